package rma_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/rma"
)

// spelled is Atomics that writes down what it is asked for, on one word.
type spelled struct {
	asked string
	v     uint64
}

func (s *spelled) note(what byte, target rma.Rank, disp rma.Disp) {
	if target != 3 || disp != 5 {
		what = '!'
	}
	s.asked += string(what)
}

func (s *spelled) Load(t rma.Rank, d rma.Disp) uint64 { s.note('l', t, d); return s.v }

func (s *spelled) Store(t rma.Rank, d rma.Disp, v uint64) { s.note('s', t, d); s.v = v }

func (s *spelled) Swap(t rma.Rank, d rma.Disp, v uint64) uint64 {
	s.note('x', t, d)
	old := s.v
	s.v = v
	return old
}

func (s *spelled) Add(t rma.Rank, d rma.Disp, delta uint64) uint64 {
	s.note('a', t, d)
	s.v += delta
	return s.v - delta
}

func (s *spelled) CompareAndSwap(t rma.Rank, d rma.Disp, old, new uint64) bool {
	s.note('c', t, d)
	if s.v != old {
		return false
	}
	s.v = new
	return true
}

// A word in memory and a word by Atomics give the same answers, and each access of the second
// is one call for its rank and displacement.
func TestWord(t *testing.T) {
	by, memory := new(spelled), uint64(0)
	for name, w := range map[string]rma.Word{"at": rma.WordAt(&memory, 3, 5), "by": rma.WordBy(by, 3, 5)} {
		got := []uint64{w.Load()}
		w.Store(7)
		got = append(got, w.Swap(9), w.Add(^uint64(0)), w.Load())
		for _, old := range []uint64{7, 8} {
			if w.CompareAndSwap(old, 1) {
				got = append(got, old)
			}
		}
		got = append(got, w.Load())
		for i, want := range []uint64{0, 7, 9, 8, 8, 1} {
			if got[i] != want {
				t.Errorf("%s: answer %d is %d, want %d (all: %d)", name, i, got[i], want, got)
			}
		}
		if w.Target != 3 || w.Disp != 5 {
			t.Errorf("%s: the word is rank %d's at %s", name, w.Target, w.Disp)
		}
	}
	if by.asked != "lsxalccl" {
		t.Errorf("Atomics is asked for %q", by.asked)
	}
}
