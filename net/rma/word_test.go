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

// TestDisp takes displacements apart at the limits of each part.
func TestDisp(t *testing.T) {
	const last = 1<<10 - 1 // the largest generation that a displacement keeps
	for _, c := range []struct {
		at         rma.Disp
		dynamic    bool
		slot       int
		generation uint64
		offset     int
		text       string
	}{
		{at: 0, text: "0"},
		{at: 1<<32 + 5, text: "4294967301"},
		{at: -1, text: "-1"}, // every bit is set, but it names nothing
		{rma.Dynamic(0, 0), true, 0, 0, 0, "region 0.0+0"},
		{rma.Dynamic(7, 3) + 5, true, 7, 3, 5, "region 7.3+5"},
		{rma.Dynamic(rma.MaxSlots-1, last) + rma.MaxRegion - 1, true, rma.MaxSlots - 1, last, rma.MaxRegion - 1, "region 1048575.1023+4294967295"},
		{rma.Dynamic(1, last+1), true, 1, 0, 0, "region 1.0+0"},
	} {
		if c.at.IsDynamic() != c.dynamic {
			t.Errorf("%v is dynamic: %v, want %v", c.at, c.at.IsDynamic(), c.dynamic)
		}
		if c.dynamic {
			if slot, generation, offset := c.at.Dynamic(); slot != c.slot || generation != c.generation || offset != c.offset {
				t.Errorf("%v has slot %d, generation %d, offset %d, want %d, %d, %d", c.at, slot, generation, offset, c.slot, c.generation, c.offset)
			}
		}
		if c.at.String() != c.text {
			t.Errorf("the text is %q, want %q", c.at, c.text)
		}
	}
}

func TestUntil(t *testing.T) {
	const minusOne = ^uint64(0)
	for _, c := range []struct {
		until   rma.Until
		text    string
		yes, no []uint64
	}{
		{rma.Is(7), "== 7", []uint64{7}, []uint64{0, 6, 8, 7 << 32, minusOne}},
		{rma.IsNot(7), "!= 7", []uint64{0, 6, 8, 7 << 32, minusOne}, []uint64{7}},
		{rma.Below(5), "< 5", []uint64{4, 0, minusOne, 1 << 63}, []uint64{5, 6, 1<<63 - 1}},
		{rma.AtLeast(5), ">= 5", []uint64{5, 6, 1<<63 - 1}, []uint64{4, 0, minusOne, 1 << 63}},
		{rma.Below(minusOne), "< -1", []uint64{minusOne - 1, 1 << 63}, []uint64{minusOne, 0, 1}},
		{rma.Is(0x30).Masked(0xf0), "&0xf0 == 48", []uint64{0x30, 0x1234}, []uint64{0, 0x1243}},
		{rma.IsNot(0).Masked(1 << 63), "&0x8000000000000000 != 0", []uint64{1 << 63, minusOne}, []uint64{0, 1<<63 - 1}},
		{rma.AtLeast(4).Masked(0xff), "&0xff >= 4", []uint64{4, 0xff04}, []uint64{3, 0xff03}},
	} {
		for _, word := range c.yes {
			if !c.until.Holds(word) {
				t.Errorf("%v does not hold for %#x", c.until, word)
			}
		}
		for _, word := range c.no {
			if c.until.Holds(word) {
				t.Errorf("%v holds for %#x", c.until, word)
			}
		}
		if c.until.String() != c.text {
			t.Errorf("the text is %q, want %q", c.until, c.text)
		}
	}
}
