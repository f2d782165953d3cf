package specimen

import (
	"context"
	"math"

	"github.com/orwl/go-orwl/net/rma"
)

// printed is RMA-RW (Schmid, Besta and Hoefler, HPDC'16, §3.3) at one level, with one
// counter at rank 0. It follows listings 6 to 10 to the letter. It is here because
// the explorer breaks it; docs/explanation/explored.md says how.
type printed struct {
	w                    rma.Window
	tail, next, status   rma.Disp
	arrive, depart       rma.Disp
	text                 printedText
	mostReads, mostWrite uint64 // T_R, T_W
}

// printedText selects between the readings that the listings leave open.
type printedText struct {
	writerWaits   bool // after setting the counters, wait for active readers (§4.1)
	noReaderReset bool // leave out lines 17 to 21 of listing 9
}

// Special values of STATUS and ARRIVE. Other values of STATUS are counts.
const (
	printedWait       = math.MaxUint64
	printedModeChange = math.MaxUint64 - 1
	printedStart      = 0
	printedWrite      = math.MaxInt64 / 2 // ARRIVE in WRITE mode
)

func newPrinted(text printedText) func(rma.Fabric) (func(rma.Window) Lock, error) {
	return func(f rma.Fabric) (func(rma.Window) Lock, error) {
		base, err := f.Alloc(5)
		if err != nil {
			return nil, err
		}
		l := printed{tail: base, next: base + 1, status: base + 2, arrive: base + 3, depart: base + 4,
			text: text, mostReads: 2, mostWrite: 2}
		for i, name := range []string{"TAIL", "NEXT", "STATUS", "ARRIVE", "DEPART"} {
			rma.Label(f, base+rma.Disp(i), 1, name)
		}
		return func(w rma.Window) Lock {
			mine := l
			mine.w = w
			return &mine
		}, nil
	}
}

// setCountersToWrite is listing 6, lines 2 to 7.
func (l *printed) setCountersToWrite() error {
	l.w.Accumulate(0, l.arrive, rma.Sum, printedWrite)
	l.w.Flush(0)
	if !l.text.writerWaits {
		return l.w.Err()
	}
	for {
		arrived := l.w.Get(0, l.arrive)
		departed := l.w.Get(0, l.depart)
		if arrived-printedWrite == departed || l.w.Err() != nil {
			return l.w.Err()
		}
		l.w.Pause(1)
	}
}

// resetCounter is listing 6, lines 10 to 24.
func (l *printed) resetCounter() {
	arrived := l.w.Get(0, l.arrive)
	departed := l.w.Get(0, l.depart)
	subArrive, subDepart := -departed, -departed
	if int64(arrived) >= printedWrite {
		subArrive -= printedWrite
	}
	l.w.Accumulate(0, l.arrive, rma.Sum, subArrive)
	l.w.Accumulate(0, l.depart, rma.Sum, subDepart)
	l.w.Flush(0)
}

// Acquire is listing 7.
func (l *printed) Acquire(ctx context.Context) error {
	me := l.w.Rank()
	l.w.Put(me, l.next, 0)
	l.w.Put(me, l.status, printedWait)
	l.w.Flush(me)
	pred := l.w.FetchOp(0, l.tail, rma.Replace, uint64(me)+1)
	if pred != 0 {
		l.w.Put(rma.Rank(pred-1), l.next, uint64(me)+1)
		l.w.Flush(rma.Rank(pred - 1))
		status, err := l.w.Await(context.WithoutCancel(ctx), me, l.status, rma.IsNot(printedWait))
		if err != nil || status != printedModeChange {
			return err
		}
	}
	err := l.setCountersToWrite()
	l.w.Put(me, l.status, printedStart)
	l.w.Flush(me)
	return err
}

// Release is listing 8.
func (l *printed) Release() {
	l.w.FlushAll()
	me := l.w.Rank()
	reset := false
	status := l.w.Get(me, l.status) + 1
	if status == l.mostWrite {
		l.resetCounter()
		status, reset = printedModeChange, true
	}
	succ := l.w.Get(me, l.next)
	if succ == 0 {
		if !reset {
			l.resetCounter()
			status = printedModeChange
		}
		if l.w.CAS(0, l.tail, uint64(me)+1, 0) == uint64(me)+1 {
			return
		}
		var err error
		if succ, err = l.w.Await(context.Background(), me, l.next, rma.IsNot(0)); err != nil {
			return
		}
	}
	l.w.Put(rma.Rank(succ-1), l.status, status)
	l.w.Flush(rma.Rank(succ - 1))
}

// AcquireRead is listing 9.
func (l *printed) AcquireRead(ctx context.Context) error {
	barrier := false
	for {
		if barrier {
			if _, err := l.w.Await(ctx, 0, l.arrive, rma.Below(l.mostReads)); err != nil {
				return err
			}
		}
		status := l.w.FetchOp(0, l.arrive, rma.Sum, 1)
		if int64(status) < int64(l.mostReads) {
			return l.w.Err()
		}
		barrier = true
		if status == l.mostReads && !l.text.noReaderReset {
			if l.w.Get(0, l.tail) == 0 {
				l.resetCounter()
				barrier = false
			}
		}
		l.w.Accumulate(0, l.arrive, rma.Sum, ^uint64(0))
		l.w.Flush(0)
	}
}

// ReleaseRead is listing 10.
func (l *printed) ReleaseRead() {
	l.w.Accumulate(0, l.depart, rma.Sum, 1)
	l.w.Flush(0)
}
