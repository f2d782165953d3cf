package volume

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
)

// Side is a Volume for one rank. Like the rank's window it is used by one
// goroutine at a time. None of its methods allocates, but Snapshot and those that
// fail.
//
// Every operation is linearizable. It fails with ctx's error if ctx ends while it
// waits, and then has done nothing; with a *FullError if there is no room, and has
// done nothing; and with the window's or the lock's error when the owner or
// another rank is lost: then it tells nothing, and may or may not have been done.
type Side interface {
	// Get returns the value of a key, and whether the key is there.
	Get(ctx context.Context, key uint64) (value uint64, found bool, err error)

	// Insert adds an element if its key is not there, and reports whether it did
	// so.
	Insert(ctx context.Context, key, value uint64) (inserted bool, err error)

	// InsertNew adds an element. The caller knows that its key is not there and that no other
	// rank inserts it, as the paper's inserts do. It begins at the end of the chain, however
	// long that is. With a key that is there the volume breaks its promises.
	InsertNew(ctx context.Context, key, value uint64) error

	// Set gives a key a value, and reports whether the key was there.
	Set(ctx context.Context, key, value uint64) (found bool, err error)

	// Delete removes a key, and reports whether it was there. Under a lock the
	// heap gets a cell back; without one the cell waits for the key to come again.
	Delete(ctx context.Context, key uint64) (found bool, err error)

	// Add adds delta to the value of a key, with wrap-around, and returns the
	// sum. A key that is not there has the value 0.
	Add(ctx context.Context, key, delta uint64) (sum uint64, err error)

	// CompareAndSet gives a key a new value if it has an old one, and reports
	// whether it had, and whether it was there at all.
	CompareAndSet(ctx context.Context, key, old, new uint64) (swapped, found bool, err error)

	// Do executes operations in their order: under a lock all in one section, which others see
	// as a whole; without one, one after the other. The outcome of each is in its fields. The
	// error is of the lock or the window. It concerns them all, or without a lock the first
	// that could not be done and those after it.
	Do(ctx context.Context, ops []Op) error

	// Len is the number of elements. Without a lock, insertions and deletions
	// under way may be counted already.
	Len(ctx context.Context) (int, error)

	// Each goes through the elements until yield returns false. Under a lock it
	// keeps writers out meanwhile, and yield must not use the volume; without
	// one it finds every element that is there all the time, and others maybe.
	Each(ctx context.Context, yield func(key, value uint64) bool) error

	// Snapshot is all elements of one moment. Atomics alone cannot take it: its
	// error then matches ErrNoLock.
	Snapshot(ctx context.Context) ([]Element, error)

	// Clear removes everything at once. Without a lock it cannot, and its error
	// matches ErrNoLock.
	Clear(ctx context.Context) error

	// Resize moves the elements to a region of another size, which may be a
	// smaller one, and keeps everybody out meanwhile. Only the owner's rank can do
	// so, of a volume that is Growable. If the elements do not fit, or there is no
	// memory, nothing has changed; the error matches ErrFull or rma.ErrNoSpace.
	Resize(ctx context.Context, buckets, heap int) error

	// Layout is the size that the volume had when this rank last looked.
	Layout() Layout
}

// Kind is what an Op does.
type Kind uint8

// The kinds are the methods of a Side.
const (
	Get Kind = iota + 1
	Insert
	Set
	Delete
	Add
	CompareAndSet
)

// Op is an operation of a batch.
type Op struct {
	Kind Kind
	Key  uint64
	// Value is what to insert, set or add, and in the end what Get found or Add
	// made.
	Value uint64
	// Old is what CompareAndSet compares with.
	Old uint64
	// Found says that the key was there, Swapped that CompareAndSet has changed
	// its value.
	Found, Swapped bool
	// Err is a *FullError, or nil.
	Err error
}

// reads reports whether no operation changes anything.
func reads(ops []Op) bool {
	for i := range ops {
		if ops[i].Kind != Get {
			return false
		}
	}
	return true
}

// unknown is the value of the panic after an Op of no kind.
func unknown(k Kind) string {
	return fmt.Sprintf("volume: an Op of kind %d: want Get to CompareAndSet", k)
}

// Element is a key and its value.
type Element struct{ Key, Value uint64 }

// chunkWords is how much of a volume a single operation moves.
const chunkWords = 1 << 12

// All goes through the elements, the table's first. Changes of the table in between may show or
// not, and an element that a Delete moves may show twice or not at all.
func (t *Table) All() iter.Seq2[uint64, uint64] {
	return func(yield func(key, value uint64) bool) {
		used := t.Buckets + int(min(t.load(atNextFree), uint64(t.Heap)))
		if t.words != nil {
			alive(t.words[t.first:t.place(used)], yield)
			return
		}
		chunk := make([]byte, 8*chunkWords)
		words := make([]uint64, chunkWords)
		for n := 0; n < used; n += chunkWords / cellWords {
			part := words[:min(chunkWords, cellWords*(used-n))]
			t.w.GetBytes(t.owner, t.at(t.place(n)), chunk[:8*len(part)])
			for i := range part {
				part[i] = binary.NativeEndian.Uint64(chunk[8*i:])
			}
			if !alive(part, yield) {
				return
			}
		}
	}
}

// alive yields the elements in cells, and reports whether it may go on.
func alive(cells []uint64, yield func(key, value uint64) bool) bool {
	for ; len(cells) >= cellWords; cells = cells[cellWords:] {
		if cells[inState] == live && !yield(cells[inKey], cells[inValue]) {
			return false
		}
	}
	return true
}

// MoveTo inserts all elements into a table that has none of their keys. Its only
// error is a *FullError; the table itself is as before.
func (t *Table) MoveTo(other *Table) error {
	for key, value := range t.All() {
		if err := other.InsertNew(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (l Layout) short(words int) error {
	return fmt.Errorf("volume: %d words, want %d for %d buckets and a heap of %d", words, l.Words(), l.Buckets, l.Heap)
}
