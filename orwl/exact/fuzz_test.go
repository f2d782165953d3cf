package exact

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzSum adds values that are the bytes of the input, all at once and in two parts, and compares with math/big.
func FuzzSum(f *testing.F) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 8))
		set := randomSet(rng)
		f.Add(asBytes(set[:min(len(set), 600)]), uint(rng.IntN(600)))
	}
	f.Fuzz(func(t *testing.T, input []byte, split uint) {
		set := asFloats(input)
		var whole, a, b Sum
		whole.AddAll(set)
		if want := oracleOf(set...); !same(whole.Value(), want.value()) || !same(float64(whole.Float32()), float64(want.float32())) {
			t.Errorf("%g, want %g", whole.Value(), want.value())
		}
		n := int(split % uint(len(set)+1))
		a.AddAll(set[n:])
		for _, x := range set[:n] {
			b.Add(x)
		}
		if b.Merge(&a); !bytes.Equal(state(&b), state(&whole)) {
			t.Errorf("parts of %d and %d values have other bytes", n, len(set)-n)
		}
	})
}

// FuzzDot multiplies the first half of the values with the second.
func FuzzDot(f *testing.F) {
	for seed := range uint64(40) {
		x, y := randomPairs(rand.New(rand.NewPCG(seed, 9)))
		n := min(len(x), 600)
		f.Add(asBytes(append(x[:n:n], y[:n]...)))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		set := asFloats(input)
		x, y := set[:len(set)/2], set[len(set)/2:][:len(set)/2]
		var rounded, precise oracle
		for i := range x {
			rounded.add(float64(x[i] * y[i]))
			precise.addProduct(x[i], y[i])
		}
		var dot, exactDot Sum
		if dot.Dot(x, y); !same(dot.Value(), rounded.value()) {
			t.Errorf("Dot is %g, want %g", dot.Value(), rounded.value())
		}
		if exactDot.ExactDot(x, y); !same(exactDot.Value(), precise.value()) {
			t.Errorf("ExactDot is %g, want %g", exactDot.Value(), precise.value())
		}
	})
}

func asBytes(x []float64) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func asFloats(b []byte) (x []float64) {
	for ; len(b) >= 8; b = b[8:] {
		x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return x
}
