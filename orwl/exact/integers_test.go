package exact

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestInt compares sums of integers with math/big, in two parts.
func TestInt(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	few := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1}
	for range 20_000 {
		var a, b Int
		var want big.Int
		set := make([]int64, rng.IntN(12))
		for i := range set {
			if set[i] = few[rng.IntN(len(few))]; rng.IntN(2) == 0 {
				set[i] = int64(rng.Uint64()) >> rng.IntN(64)
			}
			want.Add(&want, big.NewInt(set[i]))
		}
		n := rng.IntN(len(set) + 1)
		a.AddAll(set[:n])
		for _, x := range set[n:] {
			b.Add(x)
		}
		b.Merge(&a)
		got, err := b.Value()
		if want.IsInt64() {
			if err != nil || got != want.Int64() {
				t.Fatalf("%d is %d, %v: want %v", set, got, err, &want)
			}
		} else if !errors.Is(err, ErrOverflow) {
			t.Fatalf("%d is %d, %v: want %v, and ErrOverflow", set, got, err, &want)
		}
	}
}

// TestIntNoRoom doubles a sum until 128 bits have no room. It panics then, and not before.
func TestIntNoRoom(t *testing.T) {
	for first, fit := range map[int64]int{1: 126, -1: 127, math.MinInt64: 64} {
		var s Int
		s.Add(first)
		doublings := 0
		func() {
			defer func() { _ = recover() }()
			for doublings < 200 {
				s.Merge(&s)
				doublings++
			}
		}()
		if doublings != fit {
			t.Errorf("%d was doubled %d times before there was no room, want %d", first, doublings, fit)
		}
	}
}
