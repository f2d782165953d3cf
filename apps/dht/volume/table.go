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

// lockless is a Side whose ranks exclude no others: the paper's foMPI-A.
//
// The states of a cell:
//
//	           key      value     who may change the state
//	empty      none     none      an inserter, to writing; of a cell in the table
//	writing    unknown  unknown   that inserter, to live
//	live       known    known
//
// A chain only grows, at its end, by a CAS of the last cell's next from zero. The CAS fails if
// another rank was faster: then this rank looks at the new cell, too.
//
// Memory order: the key and the value are flushed before the state is live, and the
// words of a cell of the heap before a next names it. Each change is flushed before its
// operation returns.
//
// Cost, where all is done by operations: Get, 3 reads for each cell on the way; InsertNew, 1
// atomic and 3 puts into the table, and 1 read, 4 atomics and 3 puts into the heap, if no other
// rank interferes, and however long the chain is.
type lockless struct{ *Table }

// begin refuses what cannot succeed. Memory that is reached directly does not
// tell that the window has failed.
func (s *lockless) begin(ctx context.Context) error {
	if err := s.w.Err(); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	return ctx.Err()
}

func (s *lockless) Get(ctx context.Context, key uint64) (value uint64, found bool, err error) {
	if err := s.begin(ctx); err != nil {
		return 0, false, err
	}
	value, found = s.look(key)
	err = s.failure()
	return value, found && err == nil, err
}

func (s *lockless) look(key uint64) (value uint64, found bool) {
	for n := s.bucket(key); ; {
		at := s.place(n)
		state := s.atomicLoad(at + inState)
		if state == empty {
			return 0, false
		}
		if state == live && s.atomicLoad(at+inKey) == key {
			return s.atomicLoad(at + inValue), true
		}
		if n = int(s.atomicLoad(at + inNext)); n == 0 {
			return 0, false
		}
	}
}

func (s *lockless) InsertNew(ctx context.Context, key, value uint64) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	err := s.insert(key, value)
	if failure := s.failure(); failure != nil {
		err = failure
	}
	return err
}

func (s *lockless) insert(key, value uint64) error {
	b := s.bucket(key)
	if s.occupy(b, key, value) {
		return nil
	}
	next := s.fetchAdd(atNextFree, 1) // it is counted on when there are none left, which does no harm
	if next >= uint64(s.Heap) {
		return ErrFull
	}
	n := s.Buckets + int(next)
	at := s.place(n)
	s.atomicStore(at+inState, live)
	s.atomicStore(at+inKey, key)
	s.atomicStore(at+inValue, value)
	s.flush()
	s.link(b, n)
	return nil
}

// occupy puts an element into an empty bucket's cell.
func (s *lockless) occupy(bucket int, key, value uint64) bool {
	at := s.place(bucket)
	if s.cas(at+inState, empty, writing) != empty {
		return false
	}
	s.atomicStore(at+inKey, key)
	s.atomicStore(at+inValue, value)
	s.flush()
	s.atomicStore(at+inState, live)
	s.flush()
	return true
}

// link puts a cell of the heap, which is written, behind the last one of a bucket's chain, and makes
// the bucket's last word name it, unless another rank has moved that word since it was read: then it
// names another cell further on. It never goes back. If it lags behind, or still names none, the way
// to the end is a little longer.
func (s *lockless) link(bucket, number int) {
	hint, last := s.atomicLoad(s.last(bucket)), bucket
	if hint != 0 {
		last = int(hint - 1)
	}
	for {
		next := s.cas(s.place(last)+inNext, 0, uint64(number))
		if next == 0 {
			break
		}
		last = int(next)
	}
	s.cas(s.last(bucket), hint, uint64(number)+1)
	s.flush()
}
