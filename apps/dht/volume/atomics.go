package volume

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// atomics is a table whose ranks exclude no others: the paper's foMPI-A, made to update and
// delete as well.
//
// The states of a cell:
//
//	               key      value     who may change the state
//	empty          none     none      an inserter, to writing; of a cell in the table
//	writing        unknown  unknown   that inserter, to live
//	live           known    current   a deleter, to dead
//	dead           known    the last  an inserter of the key, to rising
//	rising         known    either    that inserter, to live
//
// A cell never loses its key: it stays where it is when its element is deleted, and serves when
// the key comes again. So a chain only grows, at its end, by a CAS of the last cell's next from
// zero. The CAS fails if another rank was faster: then this rank looks at the new cell, too.
// So no key is there twice.
//
// The value is a word of its own. One operation reads it, stores it, adds to it or swaps it,
// after the state was seen live. An element that is deleted in between does no harm: such an
// operation counts as one just before the deletion, which it overlaps, in the order in which
// such operations reach the word. If the key has come again meanwhile, the operation counts
// where it reaches the word, and the insertion counts where its value reaches the word. So a
// rank that finds a cell rising waits, because it cannot tell whether the key is there. A rank
// that finds one writing need not wait, unless it inserts: it may be the same key.
//
// Memory order: the key and the value are flushed before the state is live, the
// words of a cell of the heap before a next names it, and each change before its
// operation returns.
//
// Cost, where all is done by operations and the element is in the table: Get, 3 reads; Set, 2
// reads and 1 put; Add and CompareAndSet, 2 reads and 1 atomic; Delete, 2 reads, 1 atomic and 1
// put (of the count of elements); Insert, 1 read, 1 atomic and 4 puts. Every cell passed on the
// way costs 3 reads. InsertNew into the heap costs 1 read, 4 atomics and 5 puts, if no other
// rank interferes, and however long the chain is.
type atomics struct{ *Table }

// found is where a walk along a chain has ended: at the key's cell, or at the
// last one.
type found struct {
	number int
	state  uint64 // of the key's cell, live or dead; else empty for a bucket that is, and writing
	here   bool   // it is the key's cell
}

// walk looks for a key from a cell on. If it inserts, it waits for the key of a cell that
// another rank is writing.
func (a atomics) walk(ctx context.Context, number int, key uint64, inserts bool) (found, error) {
	for {
		at := a.place(number)
		state := a.atomicLoad(at + inState)
		if state == empty {
			return found{number: number, state: empty}, nil
		}
		if state == writing && inserts {
			if err := a.await(ctx, at, writing); err != nil {
				return found{}, err
			}
			continue
		}
		if state != writing && a.atomicLoad(at+inKey) == key {
			if state == rising {
				if err := a.await(ctx, at, rising); err != nil {
					return found{}, err
				}
				continue
			}
			return found{number, state, true}, nil
		}
		next := a.atomicLoad(at + inNext)
		if next == 0 {
			return found{number: number, state: writing}, nil
		}
		number = int(next)
	}
}

// await waits until a cell has another state.
func (a atomics) await(ctx context.Context, at int, state uint64) error {
	_, err := a.w.Await(ctx, a.owner, a.at(at+inState), rma.IsNot(state))
	return err
}

func (a atomics) get(ctx context.Context, key uint64) (value uint64, is bool, err error) {
	f, err := a.walk(ctx, a.bucket(key), key, false)
	if err != nil || !f.here || f.state != live {
		return 0, false, err
	}
	return a.atomicLoad(a.place(f.number) + inValue), true, nil
}

// insert adds an element if its key is not there; else it tells in which cell it
// is.
func (a atomics) insert(ctx context.Context, key, value uint64) (number int, inserted bool, err error) {
	b := a.bucket(key)
	for from := b; ; {
		f, err := a.walk(ctx, from, key, true)
		switch {
		case err != nil:
			return 0, false, err
		case f.here && f.state == live:
			return f.number, false, nil
		case f.here:
			inserted = a.raise(f.number, value)
		case f.state == empty:
			inserted = a.occupy(b, key, value)
		default:
			return a.extend(ctx, f.number, key, value)
		}
		if inserted {
			return f.number, true, nil
		}
		from = f.number // another rank was faster
	}
}

// raise makes a dead cell live again.
func (a atomics) raise(number int, value uint64) bool {
	at := a.place(number)
	if a.cas(at+inState, dead, rising) != dead {
		return false
	}
	a.atomicStore(at+inValue, value)
	a.count(1)
	a.publish(at+inState, live)
	return true
}

// occupy puts an element into an empty bucket's cell.
func (a atomics) occupy(bucket int, key, value uint64) bool {
	at := a.place(bucket)
	if a.cas(at+inState, empty, writing) != empty {
		return false
	}
	a.atomicStore(at+inKey, key)
	a.atomicStore(at+inValue, value)
	a.count(1)
	a.publish(at+inState, live)
	return true
}

// count counts elements; it is complete after the next flush.
func (a atomics) count(n uint64) { a.atomicAdd(atElements, n) }

// set gives a key a value, and reports whether it was there.
func (a atomics) set(ctx context.Context, key, value uint64) (is bool, err error) {
	n, inserted, err := a.insert(ctx, key, value)
	if err != nil || inserted {
		return false, err
	}
	a.atomicStore(a.place(n)+inValue, value)
	a.flush()
	return true, nil
}

// add returns the sum, and whether the key was there.
func (a atomics) add(ctx context.Context, key, delta uint64) (sum uint64, is bool, err error) {
	n, inserted, err := a.insert(ctx, key, delta)
	if err != nil || inserted {
		return delta, false, err
	}
	return a.fetchAdd(a.place(n)+inValue, delta) + delta, true, nil
}

func (a atomics) compareAndSet(ctx context.Context, key, old, new uint64) (swapped, is bool, err error) {
	f, err := a.walk(ctx, a.bucket(key), key, false)
	if err != nil || !f.here || f.state != live {
		return false, false, err
	}
	return a.cas(a.place(f.number)+inValue, old, new) == old, true, nil
}

func (a atomics) delete(ctx context.Context, key uint64) (is bool, err error) {
	for number := a.bucket(key); ; {
		f, err := a.walk(ctx, number, key, false)
		if err != nil || !f.here || f.state != live {
			return false, err
		}
		if a.cas(a.place(f.number)+inState, live, dead) == live {
			a.count(^uint64(0))
			a.flush()
			return true, nil
		}
		number = f.number
	}
}

// each goes along all chains: an unlinked cell of the heap has no owner yet.
func (a atomics) each(yield func(key, value uint64) bool) {
	for b := range a.Buckets {
		for n, more := b, true; more; {
			at := a.place(n)
			state := a.atomicLoad(at + inState)
			if state == live && !yield(a.atomicLoad(at+inKey), a.atomicLoad(at+inValue)) {
				return
			}
			next := a.atomicLoad(at + inNext)
			n, more = int(next), next != 0
		}
	}
}

// The overflow heap. A cell comes from the free list, which has the cells that deletes
// gave back. If that is empty, the next-free word is counted up. The free list is a stack,
// linked by the cells' next. Its word has the number of the first cell. In the discipline
// without a lock it also has a tag above it, which grows with every cell given back.
// Otherwise a stack that lost its first cells and got the first one again would look as if
// it had never changed.
const (
	cellMask = 1<<32 - 1
	oneTag   = 1 << 32
)

// take returns a cell of the heap, or reports that all are in use. The header is
// read in a single operation, so that it also tells how many elements there are.
func (t *Table) take() (number int, elements uint64, ok bool) {
	next, free, elements := t.header()
	if free != 0 {
		t.store(atFree, t.load(t.place(int(free))+inNext))
		return int(free), elements, true
	}
	if next >= uint64(t.Heap) {
		return 0, elements, false
	}
	t.store(atNextFree, next+1)
	return t.Buckets + int(next), elements, true
}

// give takes a cell back.
func (t *Table) give(number int) {
	t.setCell(t.place(number), cell{next: t.load(atFree)})
	t.store(atFree, uint64(number))
}

// draw is take without a lock. Cells that were never used come first: they cost
// one operation. Counting goes on when there are none left, which does no harm.
func (a atomics) draw() (number int, ok bool) {
	if next := a.fetchAdd(atNextFree, 1); next < uint64(a.Heap) {
		return a.Buckets + int(next), true
	}
	for free := a.atomicLoad(atFree); ; {
		number = int(free & cellMask)
		if number == 0 {
			return 0, false
		}
		now := a.cas(atFree, free, free&^cellMask|a.atomicLoad(a.place(number)+inNext))
		if now == free {
			return number, true
		}
		free = now
	}
}

// putBack is give without a lock, for a cell that no other rank knows of.
func (a atomics) putBack(number int) {
	for free := a.atomicLoad(atFree); ; {
		a.atomicStore(a.place(number)+inNext, free&cellMask)
		a.flush()
		now := a.cas(atFree, free, free&^cellMask+oneTag|uint64(number))
		if now == free {
			return
		}
		free = now
	}
}

// The end of a chain, where atomics adds elements: a cell of the heap is written,
// linked by a CAS of the last cell's next, and named by the bucket's last word.

// extend puts an element into the heap and links it behind the last cell of the
// chain. If the key turns up there meanwhile, it was live during this operation, even
// if it is dead again: that is as good as having found it so.
func (a atomics) extend(ctx context.Context, last int, key, value uint64) (number int, inserted bool, err error) {
	n, ok := a.draw()
	if !ok {
		return 0, false, a.full(key)
	}
	a.prepare(n, key, value)
	b := a.bucket(key)
	hint := a.atomicLoad(a.last(b))
	for {
		next := a.cas(a.place(last)+inNext, 0, uint64(n))
		if next == 0 {
			a.linked(b, hint, n)
			return n, true, nil
		}
		f, err := a.walk(ctx, int(next), key, true)
		if err != nil || f.here {
			a.putBack(n)
			return f.number, false, err
		}
		last = f.number
	}
}

// insertNew is InsertNew: without looking for the key.
func (a atomics) insertNew(key, value uint64) error {
	b := a.bucket(key)
	if a.occupy(b, key, value) {
		return nil
	}
	n, ok := a.draw()
	if !ok {
		return a.full(key)
	}
	a.prepare(n, key, value)
	hint, last := a.atomicLoad(a.last(b)), b
	if hint != 0 {
		last = int(hint - 1)
	}
	for {
		next := a.cas(a.place(last)+inNext, 0, uint64(n))
		if next == 0 {
			a.linked(b, hint, n)
			return nil
		}
		last = int(next)
	}
}

// prepare writes a cell of the heap that no other rank knows of.
func (a atomics) prepare(number int, key, value uint64) {
	at := a.place(number)
	a.atomicStore(at+inState, live)
	a.atomicStore(at+inKey, key)
	a.atomicStore(at+inValue, value)
	a.atomicStore(at+inNext, 0)
	a.flush()
}

// linked makes a bucket's last word name the cell that was linked, unless another rank has
// moved it since it was read: then it is another cell further on. It never goes back. If it
// lags behind, or still names none, the way to the end is a little longer.
func (a atomics) linked(bucket int, hint uint64, number int) {
	a.count(1)
	a.cas(a.last(bucket), hint, uint64(number)+1)
	a.flush()
}
