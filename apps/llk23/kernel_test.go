package main

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// manner is one way to sweep a block, and the one that it has to equal.
type manner struct {
	name           string
	sweep, rounded func(b *block, from, to int)
}

func manners() []manner {
	return []manner{
		{"listing", sweepListing, roundedListing},
		{"listing skewed", sweepListingSkewed, roundedListing}, // also where the rows are short
		{"listing row by row", sweepListingRows, roundedListing},
		{"fast", sweepFast, roundedFast},
		{"fast row by row", sweepFastRows, roundedFast},
	}
}

// The rounded forms are the kernels' definitions with a call for each
// operation, so that no compiler can fuse two of them on any machine.

func roundedListing(b *block, from, to int) {
	each(b, from, to, func(north, west, center, east, south, zb, zr, zu, zv, zz float64) float64 {
		q := plus(plus(plus(times(north, zb), times(west, zv)), times(east, zu)), times(south, zr))
		return plus(center, times(0.175, plus(plus(q, zz), -center)))
	})
}

func roundedFast(b *block, from, to int) {
	each(b, from, to, func(north, west, center, east, south, zb, zr, zu, zv, zz float64) float64 {
		p := plus(plus(plus(times(east, zu), times(south, zr)), plus(zz, -center)), times(north, zb))
		return plus(plus(center, times(0.175, p)), times(times(0.175, zv), west))
	})
}

func each(b *block, from, to int, update func(north, west, center, east, south, zb, zr, zu, zv, zz float64) float64) {
	for i := from; i < to; i++ {
		z := func(p plane, j int) float64 { return b.coefficients(p, i)[j-1] }
		for j := 1; j <= b.cols; j++ {
			b.row(i)[j] = update(b.row(i - 1)[j], b.row(i)[j-1], b.row(i)[j], b.row(i)[j+1], b.row(i + 1)[j],
				z(planeZb, j), z(planeZr, j), z(planeZu, j), z(planeZv, j), z(planeZz, j))
		}
	}
}

//go:noinline
func times(x, y float64) float64 { return x * y }

//go:noinline
func plus(x, y float64) float64 { return x + y }

func filled(t testing.TB, rows, cols int, values initial) *block {
	t.Helper()
	b, err := problem{values: values}.newBlock(context.Background(), extent{top: 1, left: 1, rows: rows, cols: cols})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// equal sweeps rows from..to-1 twice with each manner, cut in two at half, and
// compares every bit of data with the rounded form's.
func equal(t *testing.T, rows, cols, from, to, half int, values initial) {
	t.Helper()
	for _, f := range manners() {
		got, want := filled(t, rows, cols, values), filled(t, rows, cols, values)
		for range 2 {
			f.sweep(got, from, half)
			f.sweep(got, half, to)
			f.rounded(want, from, to)
		}
		for i := range rows + 2 {
			for j, v := range want.row(i) {
				if math.Float64bits(got.row(i)[j]) != math.Float64bits(v) {
					t.Fatalf("%s: %d by %d, rows %d to %d and then to %d: (%d,%d) is %v, want %v",
						f.name, rows, cols, from, half, to, i, j, got.row(i)[j], v)
				}
			}
		}
	}
}

// Values that arithmetic treats in a way of its own. NaN is not among them:
// which of two different ones an addition returns is the processor's choice.
var special = []float64{
	0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64,
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, 0x1.fffffffffffffp-1023, 1,
}

// drawn are values of one kind for the whole block: numbers of any size,
// denormal ones, and both with a special one now and then.
func drawn(random *rand.Rand) initial {
	exponent, often := 0, 0
	switch random.IntN(3) {
	case 1:
		exponent = -1040
	case 2:
		often = 1 + random.IntN(50)
	}
	key := random.Uint64()
	return func(p plane, i, j int) float64 {
		u := finalise(key + uint64(p)<<40 + uint64(i)<<20 + uint64(j))
		if often > 0 && u%uint64(often) == 0 {
			return special[finalise(u)%uint64(len(special))]
		}
		value := math.Float64frombits(u>>12|1<<62) - 3 // from -1 to 1
		if p == planeData || p == planeZz {
			value = math.Ldexp(value, exponent) // the coefficients keep it in this range
		}
		return value
	}
}

func TestSmallBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 1))
	for rows := range 10 {
		for cols := range 10 {
			for range 3 {
				equal(t, rows, cols, 1, rows+1, 1+random.IntN(rows+1), drawn(random))
			}
		}
	}
}

func TestLargerBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 2))
	for cols := 20; cols < 70; cols++ {
		for range 3 {
			rows := random.IntN(30)
			from := 1 + random.IntN(rows+1)
			to := from + random.IntN(rows+2-from)
			equal(t, rows, cols, from, to, from+random.IntN(to-from+1), drawn(random))
		}
	}
	equal(t, 37, 301, 1, 38, 1, noise)
}

// TestDrawnValues makes sure that the values above are what they are meant to
// be, and that sweeping does not turn all of them into one NaN.
func TestDrawnValues(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 3))
	denormal, infinite, result := 0, 0, 0
	for range 50 {
		b := filled(t, 8, 40, drawn(random))
		for range 3 {
			for i := 1; i <= 8; i++ {
				for _, v := range b.row(i)[1:41] {
					switch {
					case math.IsInf(v, 0):
						infinite++
					case v != 0 && math.Abs(v) < 0x1p-1022:
						denormal++
					case !math.IsNaN(v):
						result++
					}
				}
			}
			sweepFast(b, 1, 9)
		}
	}
	if denormal < 10000 || infinite < 100 || result < 10000 {
		t.Errorf("%d denormal, %d infinite and %d other numbers, too few of a kind", denormal, infinite, result)
	}
}

// FuzzForms takes sizes, where to cut, and the values themselves.
func FuzzForms(f *testing.F) {
	f.Add(uint8(5), uint8(33), uint8(1), uint8(5), uint8(3), []byte("some values"))
	f.Add(uint8(9), uint8(64), uint8(0), uint8(9), uint8(0), binary.LittleEndian.AppendUint64(nil, 0x7FEFFFFFFFFFFFFF))
	f.Fuzz(func(t *testing.T, rows, cols, skip, count, cut uint8, bytes []byte) {
		r, c := int(rows%24), int(cols%80)
		from := 1 + int(skip)%(r+1)
		to := from + int(count)%(r+2-from)
		half := from + int(cut)%(to-from+1)
		equal(t, r, c, from, to, half, func(p plane, i, j int) float64 {
			var word [8]byte
			for k := range word {
				if len(bytes) > 0 {
					word[k] = bytes[(int(p)*7919+i*104729+j*8+k)%len(bytes)]
				}
			}
			v := math.Float64frombits(binary.LittleEndian.Uint64(word[:]))
			if math.IsNaN(v) {
				return float64(word[0])
			}
			return v
		})
	})
}

// TestKernelsAgree compares the kernels with each other: they differ in
// roundings only.
func TestKernelsAgree(t *testing.T) {
	a, b := filled(t, 33, 57, noise), filled(t, 33, 57, noise)
	same := 0
	for range 40 {
		sweepListing(a, 1, 34)
		sweepFast(b, 1, 34)
	}
	for i := 1; i <= 33; i++ {
		for j := 1; j <= 57; j++ {
			x, y := a.row(i)[j], b.row(i)[j]
			if math.Abs(x-y) > 1e-14*math.Abs(x) {
				t.Fatalf("(%d,%d) is %v in the listing's order and %v in the fast one", i, j, x, y)
			}
			if x == y {
				same++
			}
		}
	}
	if same == 33*57 {
		t.Error("there is no difference at all")
	}
}

func TestSweepsAllocateNothing(t *testing.T) {
	b := filled(t, 9, 64, noise)
	for _, f := range manners() {
		if n := testing.AllocsPerRun(10, func() { f.sweep(b, 1, 10) }); n != 0 {
			t.Errorf("%s: %v allocations in each sweep", f.name, n)
		}
	}
}

// Each kernel has the name that -kernel gives it.
func TestKernelNames(t *testing.T) {
	for name, k := range kernels {
		if o, err := parse([]string{"-kernel", name}); err != nil || k.name != o.kernel || k.sweep == nil {
			t.Errorf("the kernel %q is %q: %v", o.kernel, k.name, err)
		}
	}
	if _, err := parse([]string{"-kernel", "fastest"}); err == nil || len(kernels) != 2 {
		t.Errorf("there are %d kernels, one of them called fastest", len(kernels))
	}
}
