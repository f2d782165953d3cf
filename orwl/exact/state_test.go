package exact

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

var _ interface {
	encoding.BinaryAppender
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
} = (*Sum)(nil)

// TestRoundTrip: the sum that is read is the sum that was written, and goes on.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 6))
		var s, read Sum
		read.Add(rng.NormFloat64()) // the old content goes away
		s.AddAll(randomSet(rng))
		s.ExactDot(randomPairs(rng))
		written := state(&s)
		if len(written) != StateBytes {
			t.Fatalf("a state has %d bytes, want %d", len(written), StateBytes)
		}
		if err := read.UnmarshalBinary(written); err != nil {
			t.Fatal(err)
		}
		if !same(s.Value(), read.Value()) || s.normalised() != read {
			t.Fatalf("set %d: %g was written, and %g read", seed, s.Value(), read.Value())
		}
	}
}

// TestStateIsTheNumber compares the words of states with the number of math/big in two's complement.
func TestStateIsTheNumber(t *testing.T) {
	for seed := range uint64(300) {
		x, y := randomPairs(rand.New(rand.NewPCG(seed, 11)))
		var s Sum
		var o oracle
		s.AddAll(x)
		s.ExactDot(x, y)
		for i := range x {
			o.add(x[i])
			o.addProduct(x[i], y[i])
		}
		want, _ := new(big.Float).SetMantExp(&o.sum, 2148).Int(nil)
		if want.Sign() < 0 {
			want.Add(want, new(big.Int).Lsh(big.NewInt(1), 8*(StateBytes-stateWords)))
		}
		words := want.FillBytes(make([]byte, StateBytes-stateWords))
		slices.Reverse(words)
		if got := state(&s)[stateWords:]; !bytes.Equal(got, words) {
			t.Fatalf("pairs %d: the words are %x, want %x", seed, got, words)
		}
	}
}

// TestStateStays compares the state of a sum with a recorded one: it is the same on each architecture, and in each
// release.
func TestStateStays(t *testing.T) { each(t, testStateStays) }

func testStateStays(t *testing.T) {
	var s Sum
	for i := range 1000 {
		s.Add(math.Ldexp(float64(i*i-90_000), i-500))
	}
	s.ExactDot([]float64{math.SmallestNonzeroFloat64, -math.MaxFloat64}, []float64{-3, math.MaxFloat64})
	sum := sha256.Sum256(state(&s))
	if got, want := hex.EncodeToString(sum[:8]), "7ed090ada86fa94d"; got != want {
		t.Errorf("the state's hash begins with %s, want %s: a state of another release cannot be read", got, want)
	}
	after := append([]byte("before"), state(&s)...)
	if got, err := s.AppendBinary([]byte("before")); err != nil || string(got) != string(after) {
		t.Errorf("AppendBinary does not append: %q, %v", got[:8], err)
	}
}

// TestDamage changes each bit of a state, cuts it, and writes contents that no sum has. All are refused, and leave
// the sum as it was.
func TestDamage(t *testing.T) {
	var s Sum
	s.AddAll([]float64{1e300, -3, math.SmallestNonzeroFloat64})
	good := state(&s)
	refused := func(name string, b []byte) {
		t.Helper()
		sum := s
		if err := sum.UnmarshalBinary(b); !errors.Is(err, ErrState) {
			t.Errorf("%s: the error is %v, want ErrState", name, err)
		}
		if sum != s {
			t.Errorf("%s: the sum has changed", name)
		}
	}
	for i := range 8 * StateBytes {
		b := append([]byte(nil), good...)
		b[i/8] ^= 1 << (i % 8)
		refused("a changed bit", b)
	}
	for n := range good {
		refused("a prefix", good[:n])
	}
	longer := append(append([]byte(nil), good...), 0)
	binary.LittleEndian.PutUint32(longer, checksum(longer))
	refused("a byte more", longer)
	for name, damage := range map[string]func(b []byte){
		"another name":             func(b []byte) { b[4]++ },
		"an unknown flag":          func(b []byte) { b[stateFlags] |= allFlags + 1 },
		"values, and none":         func(b []byte) { b[stateFlags] &^= some },
		"only -0, and a number":    func(b []byte) { b[stateFlags] = some },
		"nothing, and a number":    func(b []byte) { b[stateFlags] = 0 },
		"infinity that is only -0": func(b []byte) { clear(b[stateWords:]); b[stateFlags] = some | plusInf },
		"too large":                func(b []byte) { b[StateBytes-1] = 0x40 },
		"too large and negative":   func(b []byte) { b[StateBytes-1] = 0xc0 },
	} {
		b := append([]byte(nil), good...)
		damage(b)
		binary.LittleEndian.PutUint32(b, checksum(b))
		refused(name, b)
	}
}

// FuzzState reads any bytes. A state that is taken is the state of the sum that it makes.
func FuzzState(f *testing.F) {
	for seed := range uint64(20) {
		var s Sum
		s.AddAll(randomSet(rand.New(rand.NewPCG(seed, 7))))
		f.Add(state(&s)[4:])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, rest []byte) {
		b := binary.LittleEndian.AppendUint32(nil, checksum(append(make([]byte, 4), rest...)))
		b = append(b, rest...)
		var s Sum
		if s.UnmarshalBinary(b) != nil {
			return
		}
		if string(state(&s)) != string(b) {
			t.Errorf("%x was read, and %x is written", b, state(&s))
		}
		_, _ = s.Value(), s.Float32()
	})
}
