package loan

import (
	"errors"
	"os"
	"testing"

	"github.com/orwl/go-orwl/net/p2p/internal/ring"
)

// ringPages are the pages of an arena that has room for one ring.
var ringPages = (ringHead+ring.Size-1)/os.Getpagesize() + 1

// mapped is an arena as a node of 3 maps it.
func mapped(t *testing.T, o Offer, me int) *Mapping {
	t.Helper()
	m, err := Map(o, 3, me)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// TestRing has node 0 write to a ring of node 2, and wake it.
func TestRing(t *testing.T) {
	a, b := testArena(t, ringPages), testArena(t, 0)
	toB, toA := mapped(t, b.Offer, 0), mapped(t, a.Offer, 2)
	b.Attention().Store(1)
	w, offset := a.Ring(toB)
	if w == nil {
		t.Fatal("no ring")
	}
	r, err := toA.Ring(b, 0, uint64(offset), w.At())
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 2*ring.Size)
	for round := range 3 {
		sent := make([]byte, ring.Size-round)
		for i := range sent {
			sent[i] = byte(i + round)
		}
		if n := w.Write(sent); n != len(sent) {
			t.Fatalf("round %d: %d bytes written, want %d", round, n, len(sent))
		}
		if n, err := r.Read(got); err != nil || string(got[:n]) != string(sent) {
			t.Fatalf("round %d: %d bytes came, %v, or other ones", round, n, err)
		}
	}
	if !w.Rings() || w.Rings() {
		t.Error("a writer does not ring once for a node that does not look")
	}
	toB.Wake()
	if err := b.Bell.Hear(); err != nil {
		t.Error(err)
	}
	if again, _ := a.Ring(toB); again != nil {
		t.Error("an arena with room for one ring has two")
	}
	if offset%ringHead != 0 || offset < a.head {
		t.Errorf("a ring at %d, behind a head of %d", offset, a.head)
	}
}

// TestRingBounds has rings at every bound of an arena.
func TestRingBounds(t *testing.T) {
	a, own, small := testArena(t, ringPages+1), testArena(t, 0), testArena(t, ringPages-1)
	m, tooSmall := mapped(t, a.Offer, 1), mapped(t, small.Offer, 1)
	size, head := uint64(len(a.bytes)), uint64(a.head)
	const whole = ringHead + ring.Size
	for _, c := range []struct {
		m      *Mapping
		offset uint64
		want   error
	}{
		{m, head, nil}, {m, head + ringHead, nil}, {m, size - whole, nil},
		{m, 0, ErrOutside}, {m, head - ringHead, ErrOutside},
		{m, head + 8, ErrOutside}, {m, head + 1, ErrOutside}, {m, size - whole - 1, ErrOutside},
		{m, size - whole + ringHead, ErrOutside}, {m, size, ErrOutside}, {m, 1<<64 - ringHead, ErrOutside}, {m, 1<<64 - whole, ErrOutside},
		{tooSmall, head, ErrOutside}, {tooSmall, 1<<64 - ringHead, ErrOutside},
	} {
		r, err := c.m.Ring(own, 0, c.offset, 7)
		if !errors.Is(err, c.want) {
			t.Errorf("a ring at %d, of an arena of %d: %v, want %v", c.offset, len(c.m.bytes), err, c.want)
		}
		if err == nil {
			if n, err := r.Read(make([]byte, 1)); !errors.Is(err, ring.ErrRange) { // nothing is written, and 7 bytes should be
				t.Errorf("a ring at %d: %d bytes, %v", c.offset, n, err)
			}
		}
	}
	m.Close()
	if _, err := m.Ring(own, 0, head, 0); !errors.Is(err, ErrOutside) {
		t.Errorf("a ring of what is unmapped: %v", err)
	}
}

// TestBell wakes a node more often than its pipe holds, and then ends it.
func TestBell(t *testing.T) {
	a := testArena(t, 0)
	m := mapped(t, a.Offer, 1)
	for range 100_000 { // more than a pipe holds
		m.Wake()
	}
	heard := make(chan error)
	go func() {
		var err error
		for err == nil {
			err = a.Bell.Hear()
			heard <- err
		}
	}()
	if err := <-heard; err != nil {
		t.Fatal(err)
	}
	go a.Bell.Close()
	var err error
	for err == nil {
		err = <-heard
	}
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("a bell that is closed: %v", err)
	}
}

// TestNoBell has processes that hear nothing: there is no ring to them.
func TestNoBell(t *testing.T) {
	a := testArena(t, ringPages)
	for what, bell := range map[string]uint64{"none": 0, "no file": 1 << 40, "the arena": a.Offer.FD} {
		o := a.Offer
		o.Bell = bell
		if w, offset := a.Ring(mapped(t, o, 1)); w != nil || offset != 0 {
			t.Errorf("%s: a ring at %d to a node that has no bell", what, offset)
		}
	}
	if w, _ := a.Ring(mapped(t, a.Offer, 1)); w == nil {
		t.Error("no ring to a node that has a bell")
	}
}
