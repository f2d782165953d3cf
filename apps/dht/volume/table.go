package volume

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/locks"
)

// Table is a volume's words and the operations on them. Its caller has excluded all others, or
// all writers: by a lock (locked), or because there are none yet (Options.Fill).
//
// The first element of a bucket lies in its cell of the table, the others in a
// chain of cells of the heap, in the order of their insertion.
//
// Invariants: an empty cell of the table has no chain; no key is in two cells; a
// cell of the heap is in one chain, or was never taken.
type Table struct {
	memory
	Layout
	first int // where cell 0 begins
}

// The states of a cell. Under a lock it is empty or live.
const (
	empty   = iota // zero, so that zeroed memory is an empty volume
	live           // there is an element
	writing        // its key is not known yet: see lockless
)

// Where the words of a cell are in it.
const (
	inState = iota
	inKey
	inValue
	inNext
)

func newTable(m memory, l Layout) *Table { return &Table{memory: m, Layout: l, first: l.cells()} }

// place is where the words of a cell begin.
func (t *Table) place(number int) int { return t.first + cellWords*number }

// last is where a bucket's last element is named: by its cell's number plus one.
// It is 0 if there is none.
func (t *Table) last(bucket int) int { return headerWords + bucket }

func (t *Table) get(key uint64) (value uint64, found bool) {
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

// InsertNew adds an element at the end of its bucket's chain. The caller knows that its key is
// not there. Its only error is ErrFull.
func (t *Table) InsertNew(key, value uint64) error {
	b := t.bucket(key)
	n := b
	if last := t.load(t.last(b)); last != 0 {
		next := t.load(atNextFree)
		if next >= uint64(t.Heap) {
			return ErrFull
		}
		t.store(atNextFree, next+1)
		n = t.Buckets + int(next)
		t.store(t.place(int(last-1))+inNext, uint64(n))
	}
	t.setCell(t.place(n), cell{state: live, key: key, value: value})
	t.store(t.last(b), uint64(n)+1)
	t.flush()
	return nil
}

// locked is a Side under a reader-writer lock: plain operations on the table,
// between an acquire and a release.
//
// Cost, where all is done by operations, beside the lock's: Get, 1 read of each cell on
// the way to the key or to its absence; InsertNew, 1 read and 2 puts, and 1 read and 2 puts
// more if the element goes to the heap. They are flushed once.
type locked struct {
	*Table
	lock locks.RWMutex
}

func (s *locked) Get(ctx context.Context, key uint64) (value uint64, found bool, err error) {
	if err := s.lock.AcquireRead(ctx); err != nil {
		return 0, false, fmt.Errorf("volume: %w", err)
	}
	value, found = s.get(key)
	err = s.failure() // asked before the release, because then it tells nothing
	s.lock.ReleaseRead()
	return value, found && err == nil, err
}

func (s *locked) InsertNew(ctx context.Context, key, value uint64) error {
	if err := s.lock.Acquire(ctx); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	err := s.Table.InsertNew(key, value)
	if failure := s.failure(); failure != nil {
		err = failure
	}
	s.lock.Release()
	return err
}
