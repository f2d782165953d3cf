package exact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestHalves is about sums at, below and above half of a step, in each binade and beyond the largest number. The
// reference is the neighbour that math.Nextafter finds.
func TestHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for exponent := range exponentMask {
		for _, fraction := range []uint64{0, 1, 2, fractionMask - 1, fractionMask, rng.Uint64() & fractionMask} {
			x := math.Float64frombits(uint64(exponent)<<fractionBits | fraction)
			up := math.Nextafter(x, math.Inf(1))
			even := x
			if fraction&1 == 1 {
				even = up
			}
			step := math.Ldexp(1, max(exponent, 1)-1-1074)
			for _, c := range []struct {
				name   string
				beyond []float64 // products, in steps
				want   float64
			}{
				{"nothing", nil, x},
				{"a quarter", []float64{0.25}, x},
				{"less than half", []float64{0.5, -0x1p-600}, x},
				{"half", []float64{0.5}, even},
				{"half, as two quarters", []float64{0.25, 0.25}, even},
				{"more than half", []float64{0.5, 0x1p-600}, up},
				{"three quarters", []float64{0.75}, up},
			} {
				for _, sign := range []float64{1, -1} {
					var s Sum
					s.Add(sign * x)
					for _, b := range c.beyond {
						s.addProduct(sign*b, step)
					}
					if want := sign * c.want; !same(s.Value(), want) {
						t.Fatalf("%g and %s of a step: %x, want %x", sign*x, c.name, s.Value(), want)
					}
				}
			}
		}
	}
}

// TestHalvesOfFloat32 is the same for float32.
func TestHalvesOfFloat32(t *testing.T) {
	for exponent := range 255 {
		for _, fraction := range []uint32{0, 1, 2, 1<<23 - 2, 1<<23 - 1} {
			x := math.Float32frombits(uint32(exponent)<<23 | fraction)
			up := math.Nextafter32(x, float32(math.Inf(1)))
			even := x
			if fraction&1 == 1 {
				even = up
			}
			half := math.Ldexp(0.5, max(exponent, 1)-1-149)
			for _, c := range []struct {
				beyond []float64
				want   float32
			}{
				{nil, x},
				{[]float64{half}, even},
				{[]float64{half, -0x1p-1000}, x},
				{[]float64{half, 0x1p-1000}, up}, // float32 of the float64 would be even
				{[]float64{half, half / 2}, up},
			} {
				for _, sign := range []float64{1, -1} {
					var s Sum
					s.Add(sign * float64(x))
					for _, b := range c.beyond {
						s.Add(sign * b)
					}
					if got, want := float64(s.Float32()), sign*float64(c.want); !same(got, want) {
						t.Fatalf("%g and %g: %x, want %x", sign*float64(x), c.beyond, got, want)
					}
				}
			}
		}
	}
}

// TestRoundsOnce is a sum that two roundings to float32 get wrong.
func TestRoundsOnce(t *testing.T) {
	var s Sum
	s.AddAll([]float64{1, 0x1p-24, 0x1p-60})
	if got := s.Float32(); got != 1+0x1p-23 {
		t.Errorf("%x, want %x", got, float32(1+0x1p-23))
	}
	if twice := float32(s.Value()); twice != 1 {
		t.Errorf("rounded twice, it is %x: want 1, or this is no test", twice)
	}
}

// TestOneValue: a sum of one value is this value.
func TestOneValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 20_000 {
		var s Sum
		x := anyBits(rng)
		if s.Add(x); !same(s.Value(), x) || math.Float32bits(s.Float32()) != math.Float32bits(float32(x)) {
			t.Fatalf("%x alone is %x, and as float32 %x", x, s.Value(), s.Float32())
		}
	}
}
