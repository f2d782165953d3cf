package volume

// Table is a volume's words and the operations on them. Its caller has excluded all others, or
// all writers: by a lock of its own, or because there are none. Volume puts the locks around
// it.
//
// The first element of a bucket lies in its cell of the table, the others in a
// chain of cells of the heap, in the order of their insertion.
//
// Invariants: an empty cell of the table has no chain; no key is in two cells; a
// cell of the heap is in one chain, or in the free list, or was never taken.
type Table struct {
	memory
	Layout
	first int // where cell 0 begins
}

// The states of a cell. Under a lock it is empty or live; the others are of the
// discipline that has none, see atomics.go.
const (
	empty   = iota // zero, so that zeroed memory is an empty volume
	live           // there is an element
	writing        // its key is not known yet
	dead           // its element was deleted, and its key is still there
	rising         // dead, and about to be live again
)

// Where the words of a cell are in it.
const (
	inState = iota
	inKey
	inValue
	inNext
)

// Open is the table in words that the caller has: zeroed ones are empty, others
// are as an Open before has left them, with the same layout.
func Open(words []uint64, l Layout) (*Table, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	if len(words) < l.Words() {
		return nil, l.short(len(words))
	}
	return newTable(memory{words: words[:l.Words()]}, l), nil
}

func newTable(m memory, l Layout) *Table { return &Table{memory: m, Layout: l, first: l.cells()} }

// place is where the words of a cell begin.
func (t *Table) place(number int) int { return t.first + cellWords*number }

// last is where a bucket's last element is named: by its cell's number plus one.
// It is 0 if there is none.
func (t *Table) last(bucket int) int { return headerWords + bucket }

// Get returns the value of a key, and whether the key is there. Readers may do
// so at the same time.
func (t *Table) Get(key uint64) (value uint64, found bool) {
	for n := t.bucket(key); ; {
		c := t.cell(t.place(n))
		if c.key == key && c.state == live {
			return c.value, true
		}
		if c.next == 0 {
			return 0, false
		}
		n = int(c.next)
	}
}

// spot is where a key is, or where its chain ends.
type spot struct {
	number int // of the last cell looked at
	before int // the one before it in the chain, or negative
	cell   cell
	found  bool
}

func (t *Table) find(key uint64) spot {
	s := spot{number: t.bucket(key), before: -1}
	for {
		s.cell = t.cell(t.place(s.number))
		if s.cell.state == live && s.cell.key == key {
			s.found = true
			return s
		}
		if s.cell.next == 0 {
			return s
		}
		s.before, s.number = s.number, int(s.cell.next)
	}
}

// Insert adds an element if its key is not there, and reports whether it did so.
// Its only error is a *FullError.
func (t *Table) Insert(key, value uint64) (inserted bool, err error) {
	s := t.find(key)
	if s.found {
		return false, nil
	}
	err = t.append(s, key, value)
	return err == nil, err
}

// Set gives a key a value, and reports whether the key was there before. Its only
// error is a *FullError.
func (t *Table) Set(key, value uint64) (found bool, err error) {
	s := t.find(key)
	if s.found {
		t.change(s, value)
		return true, nil
	}
	return false, t.append(s, key, value)
}

// Add adds delta to the value of a key, with wrap-around, and returns the sum. A
// key that is not there has the value 0. Its only error is a *FullError.
func (t *Table) Add(key, delta uint64) (sum uint64, err error) {
	sum, _, err = t.sum(key, delta)
	return sum, err
}

// sum is Add, which also tells whether the key was there.
func (t *Table) sum(key, delta uint64) (sum uint64, found bool, err error) {
	s := t.find(key)
	if !s.found {
		return delta, false, t.append(s, key, delta)
	}
	sum = s.cell.value + delta
	t.change(s, sum)
	return sum, true, nil
}

// CompareAndSet gives a key a new value if it has an old one, and reports whether
// it had, and whether it was there at all.
func (t *Table) CompareAndSet(key, old, new uint64) (swapped, found bool) {
	s := t.find(key)
	if !s.found || s.cell.value != old {
		return false, s.found
	}
	t.change(s, new)
	return true, true
}

func (t *Table) change(s spot, value uint64) {
	t.store(t.place(s.number)+inValue, value)
	t.flush()
}

// InsertNew adds an element. The caller knows that its key is not there, as the paper's inserts
// do: InsertNew does not walk the chain but begins at its end. With a key that is there the
// volume breaks its promises. Its only error is a *FullError.
func (t *Table) InsertNew(key, value uint64) error {
	b := t.bucket(key)
	s := spot{number: b}
	if last := t.load(t.last(b)); last != 0 {
		s.number, s.cell.state = int(last-1), live
	}
	return t.append(s, key, value)
}

// append puts an element at the end of the chain that was found.
func (t *Table) append(s spot, key, value uint64) error {
	n := s.number
	if s.cell.state == empty {
		t.add(atElements, 1)
	} else {
		var elements uint64
		var ok bool
		if n, elements, ok = t.take(); !ok {
			return t.full(key)
		}
		t.store(t.place(s.number)+inNext, uint64(n))
		t.store(atElements, elements+1) // sooner done than an addition
	}
	t.setCell(t.place(n), cell{state: live, key: key, value: value})
	t.store(t.last(t.bucket(key)), uint64(n)+1)
	t.flush()
	return nil
}

func (t *Table) full(key uint64) error {
	return &FullError{Key: key, Buckets: t.Buckets, Heap: t.Heap}
}

// Delete removes a key, and reports whether it was there. It frees a cell of the heap: the
// element's own, or, if the element lies in the table, the next one in the chain, which takes
// its place.
func (t *Table) Delete(key uint64) (found bool) {
	s := t.find(key)
	if !s.found {
		return false
	}
	freed, end := s.number, s.before
	switch {
	case s.before >= 0:
		t.store(t.place(s.before)+inNext, s.cell.next)
	case s.cell.next != 0:
		freed, end = int(s.cell.next), s.number
		s.cell = t.cell(t.place(freed))
		t.setCell(t.place(s.number), s.cell)
	default:
		t.store(t.place(s.number)+inState, empty)
	}
	if s.cell.next == 0 {
		t.store(t.last(t.bucket(key)), uint64(end+1)) // end is -1 if nothing is left
	}
	if freed >= t.Buckets {
		t.give(freed)
	}
	t.add(atElements, ^uint64(0))
	t.flush()
	return true
}

// Len is the number of elements.
func (t *Table) Len() int { return int(t.load(atElements)) }

// Clear removes everything.
func (t *Table) Clear() {
	if t.words != nil {
		clear(t.words)
		return
	}
	zeroes := make([]byte, 8*min(t.Words(), chunkWords))
	for i := 0; i < t.Words(); i += chunkWords {
		t.w.PutBytes(t.owner, t.at(i), zeroes[:8*min(chunkWords, t.Words()-i)])
	}
	t.flush()
}
