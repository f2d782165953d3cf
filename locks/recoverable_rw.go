package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// recoverableRW is R-X for a reader-writer lock X: R-X, where each rank says in a word of its
// own that it reads. A count would not do: a lost reader would stay in it.
//
//	owner, at home: a writer, as in R-X
//	inside, at each rank: 0, present while it reads or looks whether it may, or awaited by a writer
//
// A reader sets inside, then looks at the owner word, and steps back if that names a writer. A writer
// takes the owner word, then waits until no living rank is inside. So one of the two sees the
// other. Lost readers stay inside for good, and writers pass over them.
//
// If a reader finds a lost owner it frees the word, and sets torn: it and the readers behind it are
// told, and the next writer, which takes the mark away.
//
//	reader frees               f, -, -, lost ──▶ f+1, 1, -, free
//	reader clears the mark     f, -, 1, free ──▶ f, -, 0, free
//
// Invariant: while the owner is a writer that has seen every living rank outside, no
// living rank is inside with a look at a free owner word behind it.
//
// Fairness: X's, as in R-X. A writer that owns the word waits for the readers inside, and keeps others out.
//
// Cost, away from home: a reader one Get. A writer as in R-X, and a Get of each rank.
type recoverableRW struct {
	recoverable
	all []word // inside of all ranks
}

// insideWords is what inside takes: a line of its own.
const insideWords = line / 8

// The values of inside besides 0.
const (
	present = 1
	awaited = 2
)

func newRecoverableRW(x Spec) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(recoverableRW{})
		l.make(lock, w, x, insideWords)
		for q := range Rank(l.topo.Ranks()) {
			l.all = append(l.all, l.at(q, 0))
		}
		l.inside = l.all[l.rank]
		return l
	}
}

// Acquire implements Mutex.
func (l *recoverableRW) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	e, waited := l.survivor.Epoch(), false
	if v := l.owner.Load(); v&(l.ranks|l.waiting) != 0 || !l.take(v) {
		var err error
		if e, err = l.enter(ctx, writing); err != nil {
			return err
		}
		waited = true
	}
	if err := l.drain(l.patience(ctx), e); err != nil {
		return err
	}
	l.acquired(writing, waited)
	return nil
}

// drain waits until no living rank is inside. If ctx ends first, the rank gives the lock back.
func (l *recoverableRW) drain(ctx context.Context, e *rma.Epoch) error {
	for q := range l.all {
		for inside := &l.all[q]; inside.Load() != 0 && !e.Lost(Rank(q)); {
			inside.CompareAndSwap(present, awaited)
			if err := l.awaitIn(ctx, &e, inside, rma.IsNot(awaited)); err != nil {
				l.giveBack()
				return err
			}
		}
	}
	return l.decided()
}

// giveBack undoes take, and what it told the rank.
func (l *recoverableRW) giveBack() {
	if l.broken() {
		return
	}
	bit := uint64(0)
	if l.prior {
		bit = l.torn
	}
	l.leave(bit)
}

// TryAcquire implements Tryer.
func (l *recoverableRW) TryAcquire() bool {
	if l.begin(forever()) != nil {
		return false
	}
	e := l.survivor.Epoch()
	if !l.tryTake(e) {
		return false
	}
	for q := range l.all {
		if l.all[q].Load() != 0 && !e.Lost(Rank(q)) {
			l.giveBack()
			return false
		}
	}
	return l.tried(writing, !l.broken())
}

// AcquireRead implements RWMutex.
func (l *recoverableRW) AcquireRead(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	waited := false
	if !l.look(l.ranks | l.waiting) {
		waited = true
		if _, err := l.enter(ctx, reading); err != nil {
			return err
		}
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.acquired(reading, waited)
	return nil
}

// TryAcquireRead implements ReadTryer.
func (l *recoverableRW) TryAcquireRead() bool {
	return l.begin(forever()) == nil && l.tried(reading, l.look(l.ranks) && !l.broken())
}

// ReleaseRead implements RWMutex.
func (l *recoverableRW) ReleaseRead() {
	if l.complete(); l.ends(reading) || l.end(reading) {
		l.stepOut()
	}
}

// look goes inside to read, and steps back if the owner word has one of the bits. It reports
// whether the rank is inside.
func (l *recoverable) look(bits uint64) bool {
	l.inside.Store(present)
	v := l.owner.Load()
	if v&bits != 0 {
		l.stepOut()
		return false
	}
	l.taken, l.prior = v, v&l.torn != 0
	return true
}

// visit is look for a head of X. It clears the mark of a rank that waits no more.
func (l *recoverable) visit() bool {
	if !l.look(l.ranks) {
		return false
	}
	if v := l.taken; v&l.waiting != 0 {
		l.owner.CompareAndSwap(v, v-l.waiting)
	}
	return true
}

// free takes the lock away from a lost owner, for readers. It wakes no rank: each hears of the loss.
func (l *recoverable) free(v uint64) {
	l.owner.CompareAndSwap(v, v&^(l.ranks|l.torn)+l.fence+l.torn)
}

// stepOut ends a reader's stay.
func (l *recoverable) stepOut() {
	if l.inside.Swap(0) == awaited {
		l.inside.wake()
	}
}
