package locks

import "context"

// tree is the distributed tree (DT) of Schmid, Besta and Hoefler, HPDC'16,
// §3.2.3 and listings 4 and 5, after HMCS (Chabbi, Fagan, Mellor-Crummey 2015):
// a queue for every element of the machine, from the finest level N up to the
// root, the machine itself.
//
//	level 1            machine ◀─ tail          nodes: one for each element of level 2
//	level 2       rack ◀─ tail    rack          nodes: one for each element of level 3
//	level N    node ◀─ tail  node  node ...     nodes: one for each rank
//
// A rank that enters a queue behind somebody waits there. Who comes first, or is
// told to climb, enters the queue above with the node of its element; who is
// passed the lock has, with it, everything above. An element's node lies at the
// element's tail rank and is used by whoever holds the element's queue.
//
// A grant at level 2 to N is the number of acquisitions in a row inside the
// element, plus one; climb, the least grant, tells the successor to climb.
//
// A releaser passes at the finest level that has a successor and has not reached
// its threshold T_L,i. The levels above stay as they are; those below, which had
// nobody or their share, are told to climb, after the levels above were released:
// an element's node has to be out of the queue above before another rank of the
// element may use it.
//
// The numbers of levels that are passed along with a lower one stay in memory,
// beside the tail (the count word): whoever has climbed writes them before it
// passes, whoever releases the level reads them.
type tree struct {
	s      *seat
	levels []level // of this rank, from the coarsest
	// top is the index of the coarsest level that the rank has entered itself.
	top int
}

// level is one queue on a rank's way to the root.
type level struct {
	queue
	tl    uint64 // T_L,i
	run   uint64 // acquisitions in a row, if the rank has entered the level itself
	count word   // the same, for others
}

// The words of a level at each rank, in this order: those of the element whose
// tail rank this is, and those of the node that stands for the rank, or for the
// element of the level below.
const (
	levelTail = iota
	levelCount
	levelNode
	levelWords = levelNode + nodeWords
)

// climb is the grant of a predecessor that has let go of the levels above.
const climb = granted

// newTree is the rank's way through the levels, which are numbers of levels of
// the topology from coarse to fine, the first one 1. Its words begin with a
// rank's word base.
func newTree(s *seat, numbers []int, base int) tree {
	t := tree{s: s, levels: apartRow[level](len(numbers))}
	for k, i := range numbers {
		home := s.o.Home
		if i > 1 {
			home = s.tree.TailRank(i, s.tree.Element(s.rank, i))
		}
		node := s.rank
		if k+1 < len(numbers) {
			below := numbers[k+1]
			node = s.tree.TailRank(below, s.tree.Element(s.rank, below))
		}
		words := base + k*levelWords
		t.levels[k] = level{
			queue: newQueue(s, s.at(home, words+levelTail), node, words+levelNode, true),
			tl:    uint64(s.o.TL[i-1]),
			count: s.at(home, words+levelCount),
		}
		shared := k+1 < len(numbers)
		t.levels[k].shared, t.levels[k].looks = shared, shared
	}
	return t
}

// enter returns when the rank holds the root, and reports what the root's
// predecessor granted, if the rank has entered the root's queue itself; alone says that
// nobody was in any queue. Then it is to be the first.
func (t *tree) enter(ctx context.Context) (grant uint64, root, alone bool, err error) {
	for k := len(t.levels) - 1; k >= 0; k-- {
		q := &t.levels[k].queue
		if q.looks && q.status.load() != 0 {
			return t.climb(ctx, k, 0)
		}
		if pred := q.tail.swap(q.name); pred != 0 {
			return t.climb(ctx, k, pred)
		}
	}
	if err := t.s.decided(); err != nil {
		t.climbBelow(0)
		return 0, false, false, err
	}
	t.count(0, len(t.levels)-1, 0)
	return 0, true, true, nil
}

// climb is the rest of enter from level k on, where the rank has lined up behind pred if
// that is not 0.
func (t *tree) climb(ctx context.Context, k int, pred uint64) (grant uint64, root, alone bool, err error) {
	finest, before := len(t.levels)-1, t.s.counts
	t.first(k)
	for alone = true; ; k-- {
		l := &t.levels[k]
		if pred != 0 {
			grant, err = l.lineUp(ctx, pred)
			pred = 0
		} else {
			grant, err = l.queue.enter(ctx)
		}
		if err != nil {
			t.s.recount(before)
			t.climbBelow(k)
			return 0, false, false, err
		}
		t.count(k, finest, grant)
		alone = alone && grant == 0
		t.top, l.run = k, 1
		if k == 0 {
			return grant, true, alone, nil
		}
		if grant > climb {
			l.run = grant - 1
			return 0, false, false, nil
		}
	}
}

// first is for a rank before which there was nobody on the levels below k.
func (t *tree) first(k int) {
	t.top = k + 1
	for k++; k < len(t.levels); k++ {
		t.levels[k].run = 1
	}
}

// count is the rank's statistics of entering a level.
func (t *tree) count(k, finest int, grant uint64) {
	c := &t.s.counts
	if k == finest && grant != 0 {
		count(&c.Waited)
	}
	if k == 0 && finest > 0 {
		count(&c.Upper)
		if grant != 0 {
			count(&c.UpperWaited)
		}
	}
}

// pass gives the lock to a successor inside an element, without the root, and
// reports whether there was one that might have it.
func (t *tree) pass() bool {
	for k := len(t.levels) - 1; k > 0; k-- {
		l := &t.levels[k]
		succ := l.successor()
		if succ == 0 {
			continue
		}
		run := t.run(k)
		if run >= l.tl {
			continue
		}
		t.remember(k)
		if l.queue.pass(succ, run+1+climb) {
			count(&t.s.counts.Passed)
			t.climbBelow(k)
			return true
		}
	}
	return false
}

// run is the number of acquisitions in a row at a level that the rank holds.
func (t *tree) run(k int) uint64 {
	if k >= t.top {
		return t.levels[k].run
	}
	return t.levels[k].count.load()
}

// remember leaves the numbers of the levels above k to whoever will release
// them.
func (t *tree) remember(k int) {
	for above := t.top; above < k; above++ {
		t.levels[above].count.store(t.levels[above].run)
	}
	t.top = max(t.top, k)
}

// leave gives up the root and all below; grant is for the root's successor.
func (t *tree) leave(grant uint64) {
	t.levels[0].queue.leave(grant)
	t.climbBelow(0)
}

// climbBelow leaves the levels below k, so that their successors climb.
func (t *tree) climbBelow(k int) {
	for k++; k < len(t.levels); k++ {
		t.levels[k].queue.leave(climb)
	}
}

// tryEnter enters if nobody is in any queue on the way.
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
		if !t.levels[k].queue.alone() {
			return false
		}
	}
	return true
}
