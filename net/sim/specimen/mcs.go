package specimen

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// mcs is the distributed MCS lock of Schmid, Besta and Hoefler (HPDC'16, §2.4,
// listings 2 and 3). It also flushes the operations that the listing does not flush:
//
//	tail at rank 0 ──▶ last waiter          next, wait at every rank
//	holder ─next─▶ waiter ─next─▶ waiter    (a rank is stored as rank+1)
type mcs struct {
	w                rma.Window
	tail, next, wait rma.Disp
	flaw             mcsFlaw
}

// mcsFlaw is what is wrong with an mcs.
type mcsFlaw struct {
	noFlush  bool // hand over before the holder's writes are complete
	lateFlag bool // raise the wait flag after linking

	// unflushed makes itself known and hands over by an Accumulate that it does not flush,
	// as the authors' program does (Uffmann 2022, §4.3.1).
	unflushed bool
}

func newMCS(flaw mcsFlaw) func(rma.Fabric) (func(rma.Window) Lock, error) {
	return func(f rma.Fabric) (func(rma.Window) Lock, error) {
		base, err := f.Alloc(3)
		if err != nil {
			return nil, err
		}
		l := mcs{tail: base, next: base + 1, wait: base + 2, flaw: flaw}
		rma.Label(f, l.tail, 1, "tail")
		rma.Label(f, l.next, 1, "next")
		rma.Label(f, l.wait, 1, "wait")
		return func(w rma.Window) Lock {
			mine := l
			mine.w = w
			return &mine
		}, nil
	}
}

func (l *mcs) Acquire(ctx context.Context) error {
	me := l.w.Rank()
	l.w.Put(me, l.next, 0)
	if !l.flaw.lateFlag {
		l.w.Put(me, l.wait, 1)
	}
	l.w.Flush(me)
	pred := l.w.FetchOp(0, l.tail, rma.Replace, uint64(me)+1)
	if pred == 0 {
		return l.w.Err()
	}
	l.tell(rma.Rank(pred-1), l.next, uint64(me)+1)
	if l.flaw.lateFlag {
		l.w.Put(me, l.wait, 1)
		l.w.Flush(me)
	}
	_, err := l.w.Await(context.WithoutCancel(ctx), me, l.wait, rma.Is(0))
	return err
}

func (l *mcs) Release() {
	me := l.w.Rank()
	if !l.flaw.noFlush {
		l.w.FlushAll()
	}
	succ := l.w.Get(me, l.next)
	if succ == 0 {
		if l.w.CAS(0, l.tail, uint64(me)+1, 0) == uint64(me)+1 {
			return
		}
		var err error
		if succ, err = l.w.Await(context.Background(), me, l.next, rma.IsNot(0)); err != nil {
			return
		}
	}
	l.tell(rma.Rank(succ-1), l.wait, 0)
}

// tell sets a word that another rank waits for.
func (l *mcs) tell(p rma.Rank, disp rma.Disp, v uint64) {
	if l.flaw.unflushed {
		l.w.Accumulate(p, disp, rma.Replace, v)
		return
	}
	l.w.Put(p, disp, v)
	l.w.Flush(p)
}
