package main

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/orwl/go-orwl/net/rma"
)

// mailbox is a place in every rank's memory where a neighbour leaves one row:
//
//	flag            row
//	┌─────────────┬───────────────────────┐
//	│ rows so far │ the last of them      │
//	└─────────────┴───────────────────────┘
//
// It holds one row at a time, and the sender does not ask whether the last one
// was taken: that has to follow from the order in which the ranks send. For
// strips it does, see [strips.sweep].
type mailbox struct {
	flag, row rma.Disp
}

// mailboxWords is what a mailbox for a row of cols elements takes of each
// rank's symmetric memory.
func mailboxWords(cols int) int { return 1 + cols }

func newMailbox(f rma.Fabric, name string, cols int) (mailbox, error) {
	base, err := f.Alloc(mailboxWords(cols))
	if err != nil {
		return mailbox{}, fmt.Errorf("%s frontier: %w", name, err)
	}
	rma.Label(f, base, 1, name+" flag")
	rma.Label(f, base+1, cols, name+" row")
	return mailbox{flag: base, row: base + 1}, nil
}

// send leaves row with rank to, as the one of iteration k. The first flush
// makes the row visible before the flag. The second is for progress: a flag
// that nobody flushes may stay on its way for ever.
func (m mailbox) send(w rma.Window, to rma.Rank, row []float64, k int) {
	w.PutBytes(to, m.row, bytesOf(row))
	w.Flush(to)
	w.Put(to, m.flag, uint64(k)+1)
	w.Flush(to)
}

// await waits until the row of iteration k is in the own mailbox.
func (m mailbox) await(ctx context.Context, w rma.Window, k int) error {
	_, err := w.Await(ctx, w.Rank(), m.flag, rma.AtLeast(uint64(k)+1))
	return err
}

// take copies the row in the own mailbox.
func (m mailbox) take(w rma.Window, row []float64) {
	w.GetBytes(w.Rank(), m.row, bytesOf(row))
}

// bytesOf is the memory of values: the machine's own byte order, as a window's
// words are.
func bytesOf(values []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))
}
