package p2p

import "testing"

// A stream keeps memory for blocks of up to bulkKept, and the streams of a node together
// for larger ones: that of the size asked for and no other, and not more than so much.
func TestSpares(t *testing.T) {
	n := new(Node)
	n.memory.open = func() *arena { return nil }
	n.hoard.pile = pile{memory: &n.memory, most: hoarded}
	one, other := newSpares(n), newSpares(n)
	same := func(a, b []byte) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }
	for _, c := range []struct {
		size   int
		shared bool
	}{{worthwhile, false}, {bulkKept, false}, {bulkKept + 1, true}} {
		b := make([]byte, c.size)
		one.put(b)
		if got := one.room(c.size + 8); got != nil {
			t.Errorf("%d bytes for %d", len(got), c.size+8)
		}
		if got := other.room(c.size); same(got, b) != c.shared {
			t.Errorf("%d bytes: another stream has them: %t", c.size, !c.shared)
		} else if c.shared {
			other.put(got)
		}
		if got := one.room(c.size); !same(got, b) {
			t.Errorf("%d bytes: they are not there any more", c.size)
		}
		if got := one.room(c.size); got != nil {
			t.Errorf("%d bytes are there twice", c.size)
		}
	}
	one.put(make([]byte, worthwhile-1))
	if one.own.bytes != 0 {
		t.Errorf("%d bytes are kept that are not worth it", one.own.bytes)
	}
	for _, c := range []struct {
		pile       *pile
		size, most int
	}{{&one.own, 3 * bulkKept / 4, bulkKept}, {&n.hoard.pile, 3 * hoarded / 4, hoarded}} {
		first, last := make([]byte, c.size), make([]byte, c.size)
		one.put(first)
		one.put(last)
		if c.pile.bytes > c.most || len(c.pile.kept) != 1 {
			t.Errorf("%d bytes in %d blocks are kept, want at most %d", c.pile.bytes, len(c.pile.kept), c.most)
		}
		if !same(one.room(c.size), last) {
			t.Errorf("of two blocks of %d bytes, the last that came is gone", c.size)
		}
	}
	one.put(make([]byte, worthwhile))
	if one.end(); one.own.bytes != 0 || len(one.own.kept) != 0 {
		t.Errorf("%d bytes are kept at the end", one.own.bytes)
	}
}
