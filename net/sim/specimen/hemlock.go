package specimen

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// overlap is Hemlock (Dice and Kogan, SPAA'21) with Overlap, without its second wait:
//
//	tail at rank 0 ──▶ last          grant at every rank: 1 names the lock
//
// A release leaves the lock's name in the own word and does not wait until the successor has
// cleared it. The next release waits. A rank that lines up again meanwhile must wait, too:
// its next successor would take the name for its own. This wait is missing here.
type overlap struct {
	w           rma.Window
	tail, grant rma.Disp
}

func newOverlap(f rma.Fabric) (func(rma.Window) Lock, error) {
	base, err := f.Alloc(2)
	if err != nil {
		return nil, err
	}
	l := overlap{tail: base, grant: base + 1}
	rma.Label(f, l.tail, 1, "tail")
	rma.Label(f, l.grant, 1, "grant")
	return func(w rma.Window) Lock {
		mine := l
		mine.w = w
		return &mine
	}, nil
}

func (l *overlap) Acquire(context.Context) error {
	pred := l.w.FetchOp(0, l.tail, rma.Replace, uint64(l.w.Rank())+1)
	if pred == 0 {
		return l.w.Err()
	}
	theirs := rma.Rank(pred - 1)
	if _, err := l.w.Await(context.Background(), theirs, l.grant, rma.Is(1)); err != nil {
		return err
	}
	l.w.Put(theirs, l.grant, 0)
	l.w.Flush(theirs)
	return nil
}

func (l *overlap) Release() {
	l.w.FlushAll()
	me := l.w.Rank()
	if l.w.CAS(0, l.tail, uint64(me)+1, 0) == uint64(me)+1 {
		return
	}
	if _, err := l.w.Await(context.Background(), me, l.grant, rma.Is(0)); err != nil {
		return
	}
	l.w.Put(me, l.grant, 1)
	l.w.Flush(me)
}
