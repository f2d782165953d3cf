package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// alock is ALock of Baran, Nelson-Slivon, Tseng and Palmieri, SPAA'24, for memory that neighbours of
// its home change by instructions, and other ranks by operations. The ranks of either kind are a
// cohort, with a queue of mcs.go. The heads of the two queues compete by Peterson's algorithm:
//
//	          home's neighbours                  all other ranks
//	tail[0] ─▶ last ... waiter ◀─ head      head ─▶ waiter ... last ◀─ tail[1]
//	                               └─ victim ─┘                            at home, as are the tails
//
// A head makes itself the victim, and waits while the other queue has a rank and the victim is
// still its own cohort. The paper's head looks at both words again and again. Here it sleeps at one
// word, calls, which the other cohort changes after either of the two.
//
// Each word that takes an atomic operation takes it from one cohort only. So the lock does not need
// instructions and operations to be atomic to each other. No other lock of the table can do without.
//
// A grant is how many ranks of the cohort will have had the lock in a row. Above T_L the rank
// competes again.
//
// A waiter does not give up: the queue is the one of mcs.go.
//
// Invariant: at most one of the two heads passes compete until its cohort has left the queue, or
// competes again.
//
// Memory order: as for queue. A rank sees calls before the two words. The other cohort changes
// these first.
//
// Fairness: FIFO inside a cohort. At most T_L,N acquisitions of a cohort follow each other while the
// other one's head waits.
//
// Cost, away from home: MCS's, a Put of the victim, and two Gets of the other tail. Behind a rank of
// the cohort MCS's alone.
type alock struct {
	side
	queue
	cohort uint64 // 0: home's neighbours; 1: the others
	victim word   // a cohort
	other  word   // the other cohort's tail
	calls  word   // how often the other cohort has called this one
	call   word   // the other cohort's calls
	run    uint64 // acquisitions of the cohort in a row
	tl     uint64
}

// The words of an ALock at its home. Each cohort has one of the first two.
const (
	alockTail  = 0
	alockCalls = 2
	alockHome  = 5
)

func newALock(lock *Lock, w rma.Window) Mutex {
	l := padded(alock{})
	l.init(lock, w)
	n := l.topo.Levels()
	if l.topo.Element(l.rank, n) != l.topo.Element(l.home, n) {
		l.cohort = 1
	}
	mine, others := int(l.cohort), 1-int(l.cohort)
	l.queue = newQueue(&l.side, l.atHome(alockTail+mine), l.rank, 0)
	l.other, l.victim = l.atHome(alockTail+others), l.atHome(alockHome-1)
	l.calls, l.call = l.atHome(alockCalls+mine), l.atHome(alockCalls+others)
	l.tl = uint64(l.o.TL[n-1])
	return l
}

func wordsOfALock(*topology.Tree, Options) Words { return Words{Home: alockHome, Rank: nodeWords} }

// Acquire implements Mutex.
func (l *alock) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	grant, err := l.enter(ctx)
	e := entry{waited: grant != none, upper: grant == none || grant > l.tl}
	if l.run = grant; e.upper && err == nil {
		e.grant, err = l.compete()
	}
	if err == nil {
		l.came(writing, e)
	}
	return err
}

// begins makes the rank's cohort the victim, and reports whether the other cohort keeps the rank out.
func (l *alock) begins() (waits bool) {
	l.run = 1
	l.victim.Store(l.cohort)
	if l.other.Load() == 0 {
		return false
	}
	l.call.accumulate(1)
	return l.victim.Load() == l.cohort
}

// compete returns when the head of the queue has the lock. The grant tells whether it has waited.
func (l *alock) compete() (grant uint64, err error) {
	for waits := l.begins(); waits; {
		seen := l.calls.Load()
		if waits = l.other.Load() != 0 && l.victim.Load() == l.cohort; waits {
			grant = granted
			if _, err := l.calls.await(forever(), rma.IsNot(seen)); err != nil {
				return none, l.fail(err)
			}
		}
	}
	return grant, l.decided()
}

// TryAcquire implements Tryer. A rank that cannot have the lock is its cohort's head for a moment.
func (l *alock) TryAcquire() bool {
	if l.begin(forever()) != nil || !l.tryEnter() {
		return false
	}
	if l.begins() {
		l.give(l.tl + 1)
		return false
	}
	return l.tried(writing, !l.broken())
}

// give gives the lock to the next rank of the cohort, or leaves the queue empty and calls the other one.
func (l *alock) give(grant uint64) {
	if last := l.handOn(grant); last && l.other.Load() != 0 {
		l.call.accumulate(1)
	} else if !last && grant <= l.tl {
		l.counts.passed.Inc()
	}
}

// Release implements Mutex.
func (l *alock) Release() {
	if l.end(writing) {
		l.give(l.run + 1)
	}
}

// Alone implements Cohort. Ranks of the other cohort wait, too.
func (l *alock) Alone() bool { return l.alone() && l.other.Load() == 0 }
