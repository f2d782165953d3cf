package specimen

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// ticket is the ticket lock. Acquire draws a number from next and waits until serving
// is that number. Release adds one to serving. Both words are at rank 0.
type ticket struct {
	w             rma.Window
	next, serving rma.Disp
	flaw          ticketFlaw
	mine          uint64
}

// ticketFlaw is what is wrong with a ticket lock.
type ticketFlaw struct {
	readThenAdd bool // draw with a Get and an Accumulate
}

func newTicket(flaw ticketFlaw) func(rma.Fabric) (func(rma.Window) Lock, error) {
	return func(f rma.Fabric) (func(rma.Window) Lock, error) {
		base, err := f.Alloc(2)
		if err != nil {
			return nil, err
		}
		l := ticket{next: base, serving: base + 1, flaw: flaw}
		rma.Label(f, l.next, 1, "next")
		rma.Label(f, l.serving, 1, "serving")
		return func(w rma.Window) Lock {
			mine := l
			mine.w = w
			return &mine
		}, nil
	}
}

func (l *ticket) Acquire(ctx context.Context) error {
	if l.flaw.readThenAdd {
		l.mine = l.w.Get(0, l.next)
		l.w.Accumulate(0, l.next, rma.Sum, 1)
		l.w.Flush(0)
	} else {
		l.mine = l.w.FetchOp(0, l.next, rma.Sum, 1)
	}
	_, err := l.w.Await(context.WithoutCancel(ctx), 0, l.serving, rma.Is(l.mine))
	return err
}

func (l *ticket) Release() {
	l.w.FlushAll()
	l.w.Put(0, l.serving, l.mine+1)
	l.w.Flush(0)
}
