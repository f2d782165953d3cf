package specimen

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// counting is a reader-writer lock with one word for the writer and one for the
// readers, both at rank 0. A reader adds itself to the readers, then looks for a
// writer. A writer sets the writer word, then looks for readers. Each announces
// itself before it looks, so at least one of the two sees the other.
type counting struct {
	w               rma.Window
	writer, readers rma.Disp
	flaw            countingFlaw
}

// countingFlaw is what is wrong with a counting lock.
type countingFlaw struct {
	noRecheck bool // look for readers only before setting the writer word
}

func newCounting(flaw countingFlaw) func(rma.Fabric) (func(rma.Window) Lock, error) {
	return func(f rma.Fabric) (func(rma.Window) Lock, error) {
		base, err := f.Alloc(2)
		if err != nil {
			return nil, err
		}
		l := counting{writer: base, readers: base + 1, flaw: flaw}
		rma.Label(f, l.writer, 1, "writer")
		rma.Label(f, l.readers, 1, "readers")
		return func(w rma.Window) Lock {
			mine := l
			mine.w = w
			return &mine
		}, nil
	}
}

func (l *counting) AcquireRead(ctx context.Context) error {
	for {
		l.w.FetchOp(0, l.readers, rma.Sum, 1)
		if l.w.Get(0, l.writer) == 0 {
			return l.w.Err()
		}
		l.w.Accumulate(0, l.readers, rma.Sum, ^uint64(0))
		l.w.Flush(0)
		if _, err := l.w.Await(ctx, 0, l.writer, rma.Is(0)); err != nil {
			return err
		}
	}
}

func (l *counting) ReleaseRead() {
	l.w.Accumulate(0, l.readers, rma.Sum, ^uint64(0))
	l.w.Flush(0)
}

func (l *counting) Acquire(ctx context.Context) error {
	for {
		if l.flaw.noRecheck {
			if _, err := l.w.Await(ctx, 0, l.readers, rma.Is(0)); err != nil {
				return err
			}
		}
		if l.w.CAS(0, l.writer, 0, uint64(l.w.Rank())+1) == 0 {
			break
		}
		if _, err := l.w.Await(ctx, 0, l.writer, rma.Is(0)); err != nil {
			return err
		}
	}
	if l.flaw.noRecheck {
		return l.w.Err()
	}
	// The writer word is set. Giving up here would leave it set for ever.
	_, err := l.w.Await(context.WithoutCancel(ctx), 0, l.readers, rma.Is(0))
	return err
}

func (l *counting) Release() {
	l.w.FlushAll()
	l.w.Put(0, l.writer, 0)
	l.w.Flush(0)
}
