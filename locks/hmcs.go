package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// tree is the distributed tree (DT) of Schmid, Besta and Hoefler, HPDC'16, §3.2.3, after
// HMCS (Chabbi, Fagan, Mellor-Crummey, PPoPP'15): a queue for every element of the
// machine, from the finest level N up to the root, the machine itself.
//
//	level 1            machine ◀─ tail          nodes: one for each element of level 2
//	level 2       rack ◀─ tail    rack          nodes: one for each element of level 3
//	level N    node ◀─ tail  node  node ...     nodes: one for each rank
//
// A rank that finds a predecessor in a queue waits there. A rank that finds none, or is
// told to climb, enters the queue above with the node of its element. A rank that is
// passed the lock holds, with it, everything above. An element's node lies at the
// element's tail rank. The holder of the element's queue uses it.
//
// A grant at level 2 to N is the number of acquisitions in a row inside the element, plus
// one; climb (ACQUIRE_PARENT) is the least grant. The root's grants are the lock's own
// business.
//
// A releaser passes the lock at the finest level that has a successor and has not reached
// its threshold T_L,i. The levels above stay as they are. At the levels below, which have
// no successor or had their share, the releaser tells successors to climb, after it has
// released the levels above: an element's node must be out of the queue above before
// another rank of the element uses it.
//
// The numbers of levels that are passed along with a lower one stay in memory, beside the
// tail (the count word). A rank that has climbed writes them before it passes; the rank
// that releases the level reads them.
//
// Line numbers refer to listings 4 (enter) and 5 (pass, leave).
type tree struct {
	side   *side
	levels []level // of this rank, from the coarsest
	top    int     // the coarsest level, by index, that the rank has entered itself
}

// level is one queue on a rank's way to the root.
type level struct {
	abortQueue
	tl    uint64 // T_L,i
	run   uint64 // acquisitions in a row, if the rank has entered the level itself, or has asked
	count word   // the same, for other ranks
}

// The words of a level at each rank: first the words of the element whose tail rank this is,
// then the words of the node that stands for the rank, or for the element below.
const (
	levelTail = iota
	levelCount
	levelNode
	levelWords = levelNode + nodeWords
)

// climb is the grant of a predecessor that has let go of the levels above.
const climb = granted

// newTree is the rank's way through those levels of the topology, from the first one,
// which is 1, to finer ones. Its words begin with a rank's word base.
func newTree(s *side, numbers []int, base int) tree {
	t := tree{side: s, levels: make([]level, len(numbers), len(numbers)+1)} // a line behind them
	for k, i := range numbers {
		home, node := s.o.Home, s.rank
		if i > 1 {
			home = s.topo.TailRank(i, s.topo.Element(s.rank, i))
		}
		shared := k+1 < len(numbers)
		if shared {
			below := numbers[k+1]
			node = s.topo.TailRank(below, s.topo.Element(s.rank, below))
		}
		words := base + k*levelWords
		l := &t.levels[k]
		*l = level{
			abortQueue: newAbortQueue(s, s.at(home, words+levelTail), node, words+levelNode),
			tl:         uint64(s.o.TL[i-1]),
			count:      s.at(home, words+levelCount),
		}
		l.shared, l.looks = shared, shared
	}
	return t
}

// entry is how a rank came into a tree. It has no more fields than the compiler keeps in
// registers: a fifth one made every acquisition take 10 ns more.
type entry struct {
	root   bool   // it entered the root's queue itself
	grant  uint64 // the grant of the last level that it entered
	waited bool   // it found a predecessor at the finest level
	upper  bool   // it entered the root's queue from an element
}

// enter returns when the rank holds the root.
func (t *tree) enter(ctx context.Context) (e entry, err error) {
	finest := len(t.levels) - 1
	for k := finest; ; k-- {
		l := &t.levels[k]
		if e.grant, err = l.enter(ctx); err != nil { // l. 2-12
			t.climbBelow(k)
			return e, err
		}
		t.top, l.run = k, 1
		e.waited = e.waited || k == finest && e.grant != none
		if k == 0 {
			e.root, e.upper = true, finest > 0
			return e, nil
		}
		if e.grant > climb { // l. 15-19
			l.run = e.grant - 1
			return e, nil
		}
	} // l. 21-23
}

// pass gives the lock to a successor inside an element and keeps the root, and reports
// whether there was a successor that might have it: l. 2-9.
func (t *tree) pass() bool {
	for k := len(t.levels) - 1; k > 0; k-- {
		l := &t.levels[k]
		succ := l.behind.Load()
		if succ == 0 {
			continue
		}
		run := t.run(k)
		if run >= l.tl {
			continue
		}
		t.remember(k)
		if l.pass(succ, run+1+climb) {
			t.side.counts.passed.Inc()
			t.climbBelow(k)
			return true
		}
	}
	return false
}

// run is the number of acquisitions in a row at a level that the rank holds.
func (t *tree) run(k int) uint64 {
	l := &t.levels[k]
	if k < t.top {
		l.run = l.count.Load()
	}
	return l.run
}

// remember leaves the numbers of the levels above k to the rank that will release them.
func (t *tree) remember(k int) {
	for above := t.top; above < k; above++ {
		t.levels[above].count.Store(t.levels[above].run)
	}
	t.top = max(t.top, k)
}

// leave gives up the root and all levels below: l. 12-23. grant is for the root's
// successor.
func (t *tree) leave(grant uint64) {
	t.levels[0].leave(grant)
	t.climbBelow(0)
}

// climbBelow leaves the levels below k, whose successors have to climb. On a broken lock
// it leaves them as they are.
func (t *tree) climbBelow(k int) {
	for k++; k < len(t.levels) && !t.side.broken(); k++ {
		t.levels[k].leave(climb)
	}
}

// tryEnter enters if no rank is in any queue on the way, and reports whether it did.
func (t *tree) tryEnter() bool {
	for k := len(t.levels) - 1; k >= 0; k-- {
		if !t.levels[k].tryEnter() {
			t.climbBelow(k)
			return false
		}
		t.levels[k].run = 1
	}
	t.top = 0
	return true
}

// alone reports whether no successor is known on any level.
func (t *tree) alone() bool {
	for k := len(t.levels) - 1; k >= 0; k-- {
		if !t.levels[k].alone() {
			return false
		}
	}
	return true
}

// hmcs is a tree and nothing else, with all levels of the topology: any grant at the root
// means go on. By operations it is RMA-MCS of the same paper, §3.5, for any N.
//
// Invariant: the holder of the root's queue, or a rank that was passed the lock below it,
// holds the lock.
//
// Fairness: FIFO inside a queue. While another element waits there are at most T_L,i
// acquisitions in a row inside an element of level i >= 2. So a rank is overtaken at most
// T_L,2 * ... * T_L,N times per element that is before its own. HPDC'16, §3.2.2, counts the
// passings between ranks of an element, which are one fewer than its acquisitions: the first of
// these comes from outside.
//
// Cost, away from home: the finest queues are near. One swap of the root's tail and one
// CAS, and what a queue takes more where elements contend.
type hmcs struct {
	side
	tree
}

func newHMCS(lock *Lock, w rma.Window) Mutex {
	l := padded(hmcs{})
	l.init(lock, w)
	l.tree = newTree(&l.side, allLevels(l.topo), 0)
	return l
}

// allLevels are the levels of a topology, from coarse to fine.
func allLevels(t *topology.Tree) []int {
	levels := make([]int, t.Levels())
	for k := range levels {
		levels[k] = k + 1
	}
	return levels
}

func wordsOfHMCS(t *topology.Tree, _ Options) Words { return Words{Rank: levelWords * t.Levels()} }

// Acquire implements Mutex.
func (l *hmcs) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	e, err := l.tree.enter(ctx)
	if err != nil {
		return err
	}
	l.came(writing, e)
	return nil
}

// came is acquired for a rank that came through a tree.
func (s *side) came(m mode, e entry) {
	s.acquired(m, e.waited)
	if e.upper {
		s.counts.upper.Inc()
		if e.grant != none {
			s.counts.upperWaited.Inc()
		}
	}
}

// TryAcquire implements Tryer.
func (l *hmcs) TryAcquire() bool {
	return l.begin(forever()) == nil && l.tried(writing, l.tryEnter())
}

// Release implements Mutex.
func (l *hmcs) Release() {
	if l.complete(); (l.ends(writing) || l.end(writing)) && !l.pass() {
		l.tree.leave(granted)
	}
}

// Alone implements Cohort.
func (l *hmcs) Alone() bool { return l.alone() }
