package loan

import "testing"

// A stream keeps memory for blocks of up to BulkKept. The streams of a node together keep memory for
// larger ones. Room returns memory of exactly the size. Both keep a limited number of bytes.
func TestSpares(t *testing.T) {
	hoard := NewHoard(NewMemory(func() *Arena { return nil }))
	one, other := NewSpares(hoard), NewSpares(hoard)
	same := func(a, b []byte) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }
	for _, c := range []struct {
		size   int
		shared bool
	}{{Worthwhile, false}, {BulkKept, false}, {BulkKept + 1, true}} {
		b := make([]byte, c.size)
		one.Put(b)
		if got := one.Room(c.size + 8); got != nil {
			t.Errorf("%d bytes for %d", len(got), c.size+8)
		}
		if got := other.Room(c.size); same(got, b) != c.shared {
			t.Errorf("%d bytes: another stream has them: %t", c.size, !c.shared)
		} else if c.shared {
			other.Put(got)
		}
		if got := one.Room(c.size); !same(got, b) {
			t.Errorf("%d bytes: they are not there any more", c.size)
		}
		if got := one.Room(c.size); got != nil {
			t.Errorf("%d bytes are there twice", c.size)
		}
	}
	one.Put(make([]byte, Worthwhile-1))
	if one.own.bytes != 0 {
		t.Errorf("%d bytes are kept that are not worth it", one.own.bytes)
	}
	for _, c := range []struct {
		pile       *pile
		size, most int
	}{{&one.own, 3 * BulkKept / 4, BulkKept}, {&hoard.pile, 3 * hoarded / 4, hoarded}} {
		first, last := make([]byte, c.size), make([]byte, c.size)
		one.Put(first)
		one.Put(last)
		if c.pile.bytes > c.most || len(c.pile.kept) != 1 {
			t.Errorf("%d bytes in %d blocks are kept, want at most %d", c.pile.bytes, len(c.pile.kept), c.most)
		}
		if !same(one.Room(c.size), last) {
			t.Errorf("of two blocks of %d bytes, the last that came is gone", c.size)
		}
	}
	one.Put(make([]byte, Worthwhile))
	if one.End(); one.own.bytes != 0 || len(one.own.kept) != 0 {
		t.Errorf("%d bytes are kept at the end", one.own.bytes)
	}
}
