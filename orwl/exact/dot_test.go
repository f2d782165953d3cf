package exact

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// TestDots compares dot products of random sets with math/big, and with parts in another order.
func TestDots(t *testing.T) {
	rings.Computes(t)
	each(t, testDots)
}

func testDots(t *testing.T) {
	for seed := range sets.Part(1, rings.Of(2, 6, 2)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		x, y := randomPairs(rng)
		var rounded, precise oracle
		var products Sum
		for i := range x {
			rounded.add(float64(x[i] * y[i]))
			products.Add(float64(x[i] * y[i]))
			precise.addProduct(x[i], y[i])
		}
		var dot, exactDot Sum
		dot.Dot(x, y)
		exactDot.ExactDot(x, y)
		if got, want := dot.Value(), rounded.value(); !same(got, want) {
			t.Fatalf("pairs %d, %d of them: Dot is %g, want %g", seed, len(x), got, want)
		}
		if got, want := exactDot.Value(), precise.value(); !same(got, want) {
			t.Fatalf("pairs %d, %d of them: ExactDot is %g, want %g", seed, len(x), got, want)
		}
		if !bytes.Equal(state(&dot), state(&products)) {
			t.Fatalf("pairs %d, %d of them: Dot has other bytes than a sum of the products", seed, len(x))
		}
		rng.Shuffle(len(x), func(i, j int) { x[i], x[j], y[i], y[j] = x[j], x[i], y[j], y[i] })
		var a, b Sum
		n := rng.IntN(len(x) + 1)
		a.ExactDot(x[:n], y[:n])
		for i := n; i < len(x); i++ {
			b.ExactDot(y[i:i+1], x[i:i+1])
		}
		if b.Merge(&a); !bytes.Equal(state(&b), state(&exactDot)) {
			t.Fatalf("pairs %d, %d of them: the bytes depend on the order or the division", seed, len(x))
		}
	}
}

// randomPairs makes two sets of one length. In a third of them, the products cancel, up to what a change of the last bit makes.
func randomPairs(rng *rand.Rand) (x, y []float64) {
	x = randomSet(rng)
	kind := kinds[rng.IntN(len(kinds))]
	y = make([]float64, len(x))
	for i := range y {
		y[i] = kind.value(rng)
	}
	if rng.IntN(3) == 0 {
		for i := range len(x) / 2 {
			last := len(x) - 1 - i
			if x[last], y[last] = -x[i], y[i]; rng.IntN(8) == 0 {
				y[last] = math.Nextafter(y[i], 0)
			}
		}
	}
	return x, y
}

// TestProductsAtTheEnds is about products whose parts are too small or too large for a float64.
func TestProductsAtTheEnds(t *testing.T) { each(t, testProductsAtTheEnds) }

func testProductsAtTheEnds(t *testing.T) {
	const tiny, huge = math.SmallestNonzeroFloat64, math.MaxFloat64
	for name, c := range map[string]struct {
		x, y []float64
		want float64
	}{
		"overflow that cancels":            {[]float64{huge, huge, 3}, []float64{huge, -huge, 1}, 3},
		"overflow":                         {[]float64{huge, 1}, []float64{2, 1}, math.Inf(1)},
		"underflow that cancels":           {[]float64{tiny, tiny, 3}, []float64{tiny, -tiny, 1}, 3},
		"underflow decides a half":         {[]float64{1, 0x1p-53, tiny}, []float64{1, 1, tiny}, 1 + 0x1p-52},
		"underflow below a half":           {[]float64{1, 0x1p-53, tiny}, []float64{1, 1, -tiny}, 1},
		"a negative sum that is too small": {[]float64{tiny}, []float64{-tiny}, math.Copysign(0, -1)},
		"half of the smallest":             {[]float64{tiny}, []float64{0.5}, 0},
		"more than half of the smallest":   {[]float64{tiny, tiny}, []float64{0.5, tiny}, tiny},
		"zeros":                            {[]float64{0, -3}, []float64{-1, 0}, math.Copysign(0, -1)},
		"zero and another":                 {[]float64{0, 3}, []float64{-1, 0}, 0},
		"infinity by zero":                 {[]float64{math.Inf(1)}, []float64{0}, math.NaN()},
		"infinity by a negative":           {[]float64{1, math.Inf(1)}, []float64{1, -tiny}, math.Inf(-1)},
		"infinities that differ":           {[]float64{math.Inf(1), math.Inf(1)}, []float64{1, -1}, math.NaN()},
		"NaN":                              {[]float64{math.NaN(), 1}, []float64{0, 1}, math.NaN()},
	} {
		for _, n := range []int{len(c.x), 15, 16, 23, 32, 100, 512, 700} { // pairs of zeros in front do not matter
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = -1, 0
			}
			copy(x[n-len(c.x):], c.x)
			copy(y[n-len(c.y):], c.y)
			var s Sum
			if s.ExactDot(x, y); !same(s.Value(), c.want) {
				t.Errorf("%s, %d pairs: %g, want %g", name, n, s.Value(), c.want)
			}
		}
	}
}

func TestLengthsThatDiffer(t *testing.T) {
	for name, f := range map[string]func(s *Sum){
		"Dot":              func(s *Sum) { s.Dot(make([]float64, 3), make([]float64, 4)) },
		"Dot of many":      func(s *Sum) { s.Dot(make([]float64, 40), make([]float64, 39)) },
		"ExactDot":         func(s *Sum) { s.ExactDot(make([]float64, 3), make([]float64, 4)) },
		"ExactDot of many": func(s *Sum) { s.ExactDot(make([]float64, 40), make([]float64, 39)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it does not panic")
				}
			}()
			f(new(Sum))
		})
	}
}

// TestDotLikeBefore adds blocks that are like the block before, or larger, smaller, wider or special. The sum has the bytes of all
// rounded products, added one by one.
func TestDotLikeBefore(t *testing.T) {
	each(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		scale := 0 // the binary exponent of the values
		changes := []func(x []float64){
			func([]float64) {},
			func([]float64) { scale = min(scale+1+rng.IntN(30), 450) },
			func([]float64) { scale = max(scale-1-rng.IntN(30), -450) },
			func([]float64) { scale = []int{-1040, -1000, -990, 1000, 1012, 1022}[rng.IntN(6)] },
			func(x []float64) { x[rng.IntN(len(x))] *= 0x1p-40 },
			func(x []float64) { x[rng.IntN(len(x))] *= 0x1p6 },
			func(x []float64) { x[rng.IntN(len(x))] = []float64{math.Inf(1), math.Inf(-1), math.NaN()}[rng.IntN(3)] },
			func(x []float64) { clear(x) },
			func(x []float64) {
				for i := range x {
					x[i] = math.Copysign(0, -1)
				}
			},
		}
		for round := range 2000 {
			var dot, products Sum
			for range 1 + rng.IntN(6) {
				x := make([]float64, []int{16, 512, 520}[rng.IntN(3)])
				y := make([]float64, len(x))
				for i := range x {
					x[i], y[i] = math.Ldexp((1+rng.Float64())*float64(1-2*rng.IntN(2)), scale), 1+rng.Float64()
				}
				change := rng.IntN(len(changes))
				if round%4 == 0 {
					change = round / 4 % len(changes) // all blocks have the same
				}
				changes[change](x)
				dot.Dot(x, y)
				for i := range x {
					products.Add(float64(x[i] * y[i]))
				}
			}
			if !bytes.Equal(state(&dot), state(&products)) {
				t.Fatalf("round %d: the sum is %g, want %g", round, dot.Value(), products.Value())
			}
		}
	})
}
