package volume

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
