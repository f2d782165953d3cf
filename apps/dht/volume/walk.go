package volume

import (
	"encoding/binary"
	"fmt"
	"iter"
)

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
