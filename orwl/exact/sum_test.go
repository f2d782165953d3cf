package exact

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

var sets = rings.Seeds("exact.sets", 10_000, 1_000_000, "TestSets, TestDots: random sets")

// TestSets compares sums of random sets with math/big. Each set is added in several orders and divisions, and all of
// these sums have equal bytes.
func TestSets(t *testing.T) {
	rings.Computes(t)
	each(t, testSets)
}

func testSets(t *testing.T) {
	for seed := range sets.Part(1, rings.Of(1, 3, 1)) { // with three kinds of vectors
		rng := rand.New(rand.NewPCG(seed, 1))
		set := randomSet(rng)
		var whole Sum
		whole.AddAll(set)
		if want := oracleOf(set...); !same(whole.Value(), want.value()) || !same(float64(whole.Float32()), float64(want.float32())) {
			t.Fatalf("set %d of %d values is %g, and as float32 %g: want %g and %g",
				seed, len(set), whole.Value(), whole.Float32(), want.value(), want.float32())
		}
		for range 3 {
			if got := divided(rng, set); !bytes.Equal(state(&got), state(&whole)) {
				t.Fatalf("set %d of %d values: the bytes depend on the order or the division", seed, len(set))
			}
		}
	}
}

// divided adds a set in another order and in parts, one by one or all at once, and merges the parts.
func divided(rng *rand.Rand, set []float64) Sum {
	set = surrounded(rng.IntN(4), set)
	rng.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
	var parts []Sum
	for first := true; first || len(set) > 0; first = false {
		n := rng.IntN(len(set) + 1)
		var s Sum
		if rng.IntN(2) == 0 {
			s.AddAll(set[:n])
		} else {
			for _, x := range set[:n] {
				s.Add(x)
			}
		}
		set, parts = set[n:], append(parts, s)
	}
	for len(parts) > 1 {
		i := rng.IntN(len(parts) - 1)
		last := len(parts) - 1
		parts[i].Merge(&parts[last])
		parts = parts[:last]
	}
	return parts[0]
}

// surrounded copies a set. The copy begins after so many cells of a vector, and what stands before and behind it is NaN.
func surrounded(begin int, set []float64) []float64 {
	room := make([]float64, begin+len(set)+4)
	for i := range room {
		room[i] = math.NaN()
	}
	set = room[begin:][:copy(room[begin:], set)]
	return set
}

func state(s *Sum) []byte {
	b, err := s.MarshalBinary()
	if err != nil {
		panic(err)
	}
	return b
}

// TestSpecial is about values that are no usual numbers, alone, in a block, and behind blocks.
func TestSpecial(t *testing.T) { each(t, testSpecial) }

func testSpecial(t *testing.T) {
	inf, nan, minus0 := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	payload, signalling := math.Float64frombits(0xfff8_0000_0000_1234), math.Float64frombits(0x7ff0_0000_0000_0001)
	const huge, tiny = math.MaxFloat64, math.SmallestNonzeroFloat64
	for _, c := range []struct {
		set  []float64
		want float64
	}{
		{nil, 0},
		{[]float64{0}, 0},
		{[]float64{minus0}, minus0},
		{[]float64{minus0, minus0}, minus0},
		{[]float64{minus0, 0}, 0},
		{[]float64{1, -1}, 0},
		{[]float64{-1, 1, minus0}, 0},
		{[]float64{tiny, -tiny}, 0},
		{[]float64{-tiny}, -tiny},
		{[]float64{inf}, inf},
		{[]float64{-inf, huge, 1}, -inf},
		{[]float64{inf, -inf}, nan},
		{[]float64{inf, nan}, nan},
		{[]float64{payload}, nan},
		{[]float64{signalling, 1}, nan},
		{[]float64{huge, huge, -huge, -huge, 1}, 1},
		{[]float64{huge, huge, -huge}, huge},
		{[]float64{huge, huge}, inf},
		{[]float64{-huge, -huge}, -inf},
		{[]float64{huge, 0x1p969}, huge},
		{[]float64{huge, 0x1p970}, inf}, // half a step beyond
		{[]float64{huge, 0x1p970, -tiny}, huge},
		{[]float64{-huge, -0x1p970}, -inf},
		{[]float64{0x1p-1022, -tiny}, 0x1p-1022 - tiny},
		{[]float64{huge, tiny, -huge}, tiny},
		{[]float64{1, 0x1p-53}, 1},
		{[]float64{1, 0x1p-53, tiny}, 1 + 0x1p-52},
		{[]float64{1, 0x1p-53, -tiny}, 1},
		{[]float64{1 + 0x1p-52, 0x1p-53}, 1 + 0x1p-51},
	} {
		for _, n := range []int{len(c.set), 15, 16, 17, 33, 511, 512, 513, 1100} {
			for _, behind := range []bool{false, true} {
				n = max(n, len(c.set))
				set := slices.Repeat([]float64{minus0}, n) // these do not matter
				if copy(set, c.set); behind {
					slices.Reverse(set)
				}
				want := c.want
				if len(c.set) == 0 && n > 0 {
					want = minus0
				}
				var s Sum
				s.AddAll(set)
				got := s.Value()
				if !same(got, want) {
					t.Errorf("%g and %d negative zeros: %g, want %g", c.set, n-len(c.set), got, want)
				}
				if b := math.Float64bits(got); got != got && b != math.Float64bits(math.NaN()) {
					t.Errorf("%g: the NaN is %x, not the one of package math", c.set, b)
				}
				var read Sum
				if err := read.UnmarshalBinary(state(&s)); err != nil || !same(read.Value(), got) {
					t.Errorf("%g: its state is read as %g, %v", c.set, read.Value(), err)
				}
				if got, want := float64(s.Float32()), float64(float32(want)); want == 0 && !same(got, want) || math.IsNaN(want) != math.IsNaN(got) {
					t.Errorf("%g: as float32 %g, want %g", c.set, got, want)
				}
			}
		}
	}
}

// TestBlocks plays blocks of each exponent. All values of a block are as large as the exponent allows, so sums of
// levels have no bit to spare, and smaller values need both levels, two more, or the accumulator.
func TestBlocks(t *testing.T) {
	rings.Computes(t)
	each(t, testBlocks)
}

func testBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for exponent := 0; exponent < exponentMask; exponent++ {
		largest := math.Float64frombits(uint64(exponent)<<fractionBits | fractionMask)
		signs, depth := rng.IntN(3), rng.IntN(220)
		set := make([]float64, 2*block)
		for i := range set {
			if set[i] = largest; signs == 1 || signs == 2 && i%2 == 1 {
				set[i] = -set[i]
			}
			if rng.IntN(8) == 0 {
				set[i] = math.Ldexp(set[i], -rng.IntN(depth+1))
			}
		}
		n := block + rng.IntN(block+1)
		if got, want := both(set[:n]); got != want {
			t.Fatalf("%d values of exponent %d down to %d: %s, want %s", n, exponent, exponent-depth, got, want)
		}
	}
}

// both are all bits of a sum by AddAll and by math/big.
func both(set []float64) (got, want string) {
	var s Sum
	s.AddAll(set)
	sum := s.normalised()
	var f, digit big.Float
	for i, d := range sum.digits {
		f.SetPrec(exactly).Add(&f, digit.SetMantExp(new(big.Float).SetInt64(d), lowest+i*digitBits))
	}
	return f.Text('p', 0), oracleOf(set...).sum.Text('p', 0)
}

// TestLevels plays blocks of one value, and smaller ones of one sign: almost as large as their exponent allows, and so many
// binades below that one level or another takes most of them.
func TestLevels(t *testing.T) {
	rings.Computes(t)
	each(t, testLevels)
}

func testLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for _, exponent := range []int{-960, 0, 1012} {
		for below := range 240 {
			for _, sign := range []float64{1, -1} {
				set := make([]float64, block)
				for i := range set {
					set[i] = math.Ldexp(sign*(2-rng.Float64()*0x1p-12), exponent-below)
				}
				set[below] = math.Ldexp(sign, exponent)
				if got, want := both(set); got != want {
					t.Fatalf("%g and 511 values of about 2^%d: %s, want %s", set[below], exponent-below, got, want)
				}
			}
		}
	}
}

// TestCarries adds so many values of one sign that words would overflow without carries, with each shift of the
// bits in a digit.
func TestCarries(t *testing.T) {
	for shift := range 2 * digitBits {
		for _, n := range []int{maxPending - 1, 2*maxPending + 3} {
			for _, sign := range []float64{1, -1} {
				x := math.Ldexp(sign*(1<<53-1), shift)
				var s Sum
				for range n {
					s.Add(x)
				}
				if got, want := s.Value(), x*float64(n); !same(got, want) { // one rounding
					t.Errorf("%d times %g is %g, want %g", n, x, got, want)
				}
				s.Merge(&s) // both have carries that wait
				s.Merge(&s)
				if got, want := s.Value(), x*float64(4*n); !same(got, want) {
					t.Errorf("merged with itself, %d times %g is %g, want %g", 4*n, x, got, want)
				}
			}
		}
	}
}

// TestMergeLeavesTheOther merges a sum with carries that wait. It only reads the other sum, so several goroutines may.
func TestMergeLeavesTheOther(t *testing.T) {
	var s, other Sum
	for range 100 {
		other.Add(-0x1.fffffffffffffp31)
	}
	before := other
	s.Merge(&other)
	if s.Value() != other.Value() || other != before {
		t.Error("Merge or Value changes the sum that it reads")
	}
	if got := s.digits[top]; got != -1 {
		t.Errorf("after Merge, the last digit of a negative sum is %d, want -1", got)
	}
}

// TestNoRoom doubles a sum until there is no room. It panics, and is right before.
func TestNoRoom(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		var s Sum
		s.ExactDot([]float64{sign * 0x1p1023}, []float64{0x1p1023}) // 2^2046
		for doublings := range 92 {
			panics := func() (panics bool) {
				defer func() { panics = recover() != nil }()
				s.Merge(&s)
				return false
			}()
			if full := doublings == 91; panics != full {
				t.Fatalf("%g * 2^2046 doubled %d times: panics is %v", sign, doublings+1, panics)
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) { each(t, testNothingIsAllocated) }

func testNothingIsAllocated(t *testing.T) {
	x, y := normal(1, 1111), normal(2, 1111)
	var a, b Sum
	bytes := make([]byte, 0, StateBytes)
	if n := testing.AllocsPerRun(10, func() {
		a.Add(1)
		a.AddAll(x)
		a.Dot(x, y)
		b.ExactDot(x, y)
		a.Merge(&b)
		_, _ = a.Value(), a.Float32()
		if state, err := a.AppendBinary(bytes); err != nil || b.UnmarshalBinary(state) != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestFewMeetTheAccumulator counts how often ten blocks meet the accumulator: once for each level.
func TestFewMeetTheAccumulator(t *testing.T) { each(t, testFewMeetTheAccumulator) }

func testFewMeetTheAccumulator(t *testing.T) {
	const blocks = 10
	rng := rand.New(rand.NewPCG(13, 13))
	random := func(value func(*rand.Rand) float64) []float64 {
		x := make([]float64, blocks*block)
		for i := range x {
			x[i] = value(rng)
		}
		return x
	}
	near, others := random(between(-7, 7)), random(between(-7, 7))
	far, zeros := random(between(-60, 0)), make([]float64, blocks*block)
	withZeros := random(func(rng *rand.Rand) float64 { return float64(rng.IntN(3) - 1) })
	for name, c := range map[string]struct {
		add   func(s *Sum)
		times uint32 // a block
	}{
		"AddAll":               {func(s *Sum) { s.AddAll(near) }, 2},
		"AddAll, many binades": {func(s *Sum) { s.AddAll(far) }, 4},
		"AddAll, zeros":        {func(s *Sum) { s.AddAll(zeros) }, 0},
		"Dot":                  {func(s *Sum) { s.Dot(near, others) }, 2},
		"Dot, zeros":           {func(s *Sum) { s.Dot(near, zeros) }, 0},
		"ExactDot":             {func(s *Sum) { s.ExactDot(near, others) }, 4},
		"ExactDot, zeros in x": {func(s *Sum) { s.ExactDot(withZeros, near) }, 4},
		"ExactDot, zeros in y": {func(s *Sum) { s.ExactDot(near, withZeros) }, 4},
	} {
		var s Sum
		c.add(&s)
		if uint32(s.pending) > c.times*blocks {
			t.Errorf("%s: %d additions to the accumulator, want %d", name, s.pending, c.times*blocks)
		}
	}
}
