package locks

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/topology"
)

// hmcs is the hierarchical MCS lock for any number of levels (Chabbi, Fagan,
// Mellor-Crummey, PPoPP'15), in its form on windows: RMA-MCS of Schmid, Besta
// and Hoefler, HPDC'16, §3.5, is hmcs on the levels 1 and N.
//
// See tree for the structure. The root is a plain queue: any grant there means:
// go on.
//
// Invariant: whoever holds the root's queue, or was passed the lock below
// somebody who did, holds the lock.
//
// Fairness: FIFO inside a queue; at most T_L,i acquisitions in a row inside an
// element of level i >= 2 while another element waits, so that a rank is
// overtaken at most T_L,2 * ... * T_L,N times per element that is before its own.
//
// Cost, away from home: the finest queues are near; one swap of the root's tail
// and one CAS, and what mcs takes more where elements contend.
type hmcs struct {
	seat
	t   tree
	way []step // from the coarsest; nil if words are out of reach
}

// step is what a rank that meets nobody looks at on one level: side by side, since it
// looks at little else.
type step struct {
	tail, next, status *uint64
	name               uint64
}

// newHMCS is the lock for a rank, on all levels, or on the first and the last.
func newHMCS(levels func(*topology.Tree) []int) func(seat) Mutex {
	return func(s seat) Mutex {
		l := apart(hmcs{seat: s})
		l.t = newTree(&l.seat, levels(l.tree), 0)
		if l.direct {
			for k := range l.t.levels {
				q := &l.t.levels[k].queue
				l.way = append(l.way, step{q.tail.at, q.next.at, q.status.at, q.name})
			}
		}
		l.goesAtOnce(l.direct)
		return l
	}
}

// allLevels are the levels of a tree, from coarse to fine.
func allLevels(t *topology.Tree) []int {
	levels := make([]int, t.Levels())
	for k := range levels {
		levels[k] = k + 1
	}
	return levels
}

// twoLevels are the machine and its finest elements.
func twoLevels(t *topology.Tree) []int {
	if t.Levels() == 1 {
		return []int{1}
	}
	return []int{1, t.Levels()}
}

func wordsOfHMCS(levels func(*topology.Tree) []int) func(*topology.Tree, Options) Words {
	return func(t *topology.Tree, _ Options) Words { return Words{Rank: levelWords * len(levels(t))} }
}

// Acquire implements Mutex. Who meets nobody lines up on all levels here, without a
// function: memory has answered, and whether the window has failed meanwhile does not
// matter.
func (l *hmcs) Acquire(ctx context.Context) error {
	was := l.turn
	if was.mode() != ready || was >= l.asks || !l.endless(&ctx) || l.failed.Load() {
		return l.acquire(ctx)
	}
	for k := len(l.way) - 1; k >= 0; k-- {
		s, pred := &l.way[k], uint64(0)
		if atomic.LoadUint64(s.status) == 0 {
			if pred = atomic.SwapUint64(s.tail, s.name); pred == 0 {
				continue
			}
		}
		_, _, first, err := l.t.climb(ctx, k, pred)
		return l.entered(first, err)
	}
	if len(l.way) > 1 {
		count(&l.counts.Upper)
	}
	l.setTurn(was + oneTurn + alone - ready)
	return nil
}

// acquire is Acquire for who has something to see to before, or has to go far.
func (l *hmcs) acquire(ctx context.Context) error {
	if l.due() || !l.ready(ctx) {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	_, _, first, err := l.t.enter(ctx)
	return l.entered(first, err)
}

// entered is the end of an Acquire that calls functions.
func (l *hmcs) entered(first bool, err error) error {
	switch {
	case err != nil:
		return err
	case first:
		l.acquired(alone)
	default:
		l.acquired(writing)
	}
	return nil
}

// TryAcquire implements Tryer.
func (l *hmcs) TryAcquire() bool {
	if l.begin(context.Background()) != nil || !l.t.tryEnter() {
		return false
	}
	l.acquired(writing)
	return true
}

// Release implements Mutex.
func (l *hmcs) Release() {
	was := l.turn
	switch {
	case was.mode() == alone && l.direct:
		if l.setTurn(was - alone + ready); l.vacate() {
			return
		}
		l.t.first(-1)
	case was.mode() == alone:
		if l.end(alone); l.farVacate() {
			return
		}
		l.t.first(-1)
	default:
		l.end(writing)
	}
	if !l.t.pass() {
		l.t.leave(granted)
	}
}

// vacate is leave for a rank that has come alone, if nobody is behind it on any level. It
// reports false, and has done nothing, if there is somebody.
func (l *hmcs) vacate() bool {
	for k := len(l.way) - 1; k > 0; k-- {
		if atomic.LoadUint64(l.way[k].next) != 0 {
			return false
		}
	}
	for k := range l.way {
		if s := &l.way[k]; !atomic.CompareAndSwapUint64(s.tail, s.name, 0) {
			if k == 0 {
				return false
			}
			l.t.levels[k].queue.leave(climb)
		}
	}
	return true
}

// farVacate is vacate by operations, where a look is cheaper than a CAS in vain.
func (l *hmcs) farVacate() bool {
	if !l.t.alone() {
		return false
	}
	for k := range l.t.levels {
		if q := &l.t.levels[k].queue; !q.tail.cas(q.name, 0) {
			if k == 0 {
				return false
			}
			q.leave(climb)
		}
	}
	return true
}

// Alone implements Cohort.
func (l *hmcs) Alone() bool { return l.t.alone() }
