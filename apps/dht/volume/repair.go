package volume

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// A volume under a recoverable lock, as R-RMA-RW, goes on when a rank dies, on a fabric whose
// windows survive. All ranks reach its words by loads and stores there, and a process that is
// killed has made the stores of its program up to some point, and none behind it. So each operation
// stores in an order in which every prefix can be repaired:
//
//	add an element   link an empty cell, and fill it, state last
//	change a value   one store
//	delete           unlink its cell; or copy the next one into the table, key first, then
//	                 value, then next: until then two cells in a row have one key
//
// The counts, the last cell of each bucket and the free list follow from the chains.
//
// An operation of a lost rank is then done or not done. A batch, Clear and Fill may be done in part.

// recover makes the table whole after the loss of a writer: it walks all chains, and builds the rest
// anew. If it is cut short it can begin again.
func (t *Table) recover() {
	var elements uint64
	used := make([]bool, t.Heap)
	for b := range t.Buckets {
		n := b
		if t.load(t.place(n)+inState) != live {
			t.store(t.last(b), 0)
			continue
		}
		elements++
		for c := t.cell(t.place(n)); c.next != 0; c = t.cell(t.place(n)) {
			next := int(c.next)
			after, whole := cell{}, next >= t.Buckets && next < t.Buckets+t.Heap && !used[next-t.Buckets]
			if whole {
				after = t.cell(t.place(next))
			}
			switch {
			case !whole || after.state != live:
				t.store(t.place(n)+inNext, 0)
			case after.key == c.key: // its copy was under way
				t.store(t.place(n)+inValue, after.value)
				t.store(t.place(n)+inNext, after.next)
			default:
				used[next-t.Buckets] = true
				elements++
				n = next
			}
		}
		t.store(t.last(b), uint64(n)+1)
	}
	t.store(atNextFree, uint64(t.Heap))
	t.store(atFree, 0)
	for i := t.Heap - 1; i >= 0; i-- {
		if !used[i] {
			t.give(t.Buckets + i)
		}
	}
	t.store(atElements, elements)
	t.flush()
}

// told reports whether a writer before was lost, and not everything is whole.
func (s *locked) told() bool {
	r, ok := s.lock.(locks.Recoverable)
	return ok && r.Prior() != nil
}

// readWhole is for a reader that is told: it repairs as a writer, and reads again.
func (s *locked) readWhole(ctx context.Context) error {
	for s.told() {
		s.lock.ReleaseRead()
		if err := s.write(ctx); err != nil {
			return err
		}
		s.lock.Release()
		if err := s.lock.AcquireRead(ctx); err != nil {
			return fmt.Errorf("volume: %w", err)
		}
	}
	return nil
}

// awaitBase waits for the owner to say where the elements are, or for its loss.
func (s *seat) awaitBase(ctx context.Context) (base uint64, err error) {
	owner, at := s.v.o.Owner, s.v.directory+atBase
	w, survives := s.w.(rma.Survivor)
	if !survives {
		return s.w.Await(ctx, owner, at, rma.IsNot(0))
	}
	for {
		e := w.Epoch()
		if base := w.Get(owner, at); base != 0 || e.Lost(owner) {
			if base == 0 {
				err = rma.ErrPeerLost
			}
			return base, err
		}
		if base, err = w.AwaitIn(ctx, e, owner, at, rma.IsNot(0)); err == nil || w.Err() != nil || e.Err() == nil {
			return base, err
		}
	}
}
