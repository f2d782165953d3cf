package volume

import "context"

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
