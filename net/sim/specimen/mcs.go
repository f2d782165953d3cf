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
