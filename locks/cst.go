package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// cst is CST, the lock of Kashyap, Min and Kim, ATC'17 (Uffmann 2022, §5.6): a cohort lock, MCS
// over K42, that knows no element before a rank of it comes. The first rank of an element to
// come adds a node for the element to the end of the lock's list. The node stays there.
//
//	home   first ─▶ b ─▶ a              the list: elements in the order in which they came
//	       tail ───────▶ a
//	       b ─next─▶ a                  the global queue
//	ranks  b1 ─next─▶ b0    a2          the local queues, whose tails are in the nodes
//
// A rank looks for its element's node when it comes for the first time, and remembers it.
// From then on the lock is C-MCS-MCS (cohort.go). C-MCS-MCS reserves a node at each element's tail
// rank. Here the node is at the rank that came first, and the lock's home finds all of them.
//
// # What differs from the paper
//
//   - The paper allocates the node. Here every rank has room for one in the window from the
//     beginning, zeroed, and an element's first rank enters its own. So all that has to be
//     published of a new node is its name, and nothing is freed. The lock takes the memory of an
//     element that never comes, but no step of any rank.
//   - The local queue is MCS, because a rank's own node is in the window, too
//     (docs/decisions/locks-left-out.md).
//   - Waiters look at their own word for some time, sleep, and are woken by their predecessor.
//     Window.Await does that for every lock of this package.
//
// Invariant: an element has one node in the list, and the list's order never changes. The rest is
// cohort's.
//
// Memory order: the list needs none. A name is added by a CAS of the last node's word, and no
// word of a node has another value than zero before that.
//
// Fairness: FIFO among elements, with at most T_L,N acquisitions in a row inside one while
// another waits, and FIFO inside.
//
// Cost, away from home: C-MCS-MCS's. A rank that comes for the first time also takes a Get for
// each node up to its own, and a CAS if there is none.
type cst struct {
	cohort
}

// The words of CST at home, and at each rank: its element's node, if the rank came first, then
// its own node in the local queue.
const (
	cstFirst = iota
	cstTail
	cstHome

	cstNext   = iota - cstHome - 1 // the element that came next
	cstLocal                       // the tail of the local queue
	cstGlobal                      // the node in the global queue
	cstOwn    = cstGlobal + nodeWords
	cstRank   = cstOwn + nodeWords
)

func newCST(lock *Lock, w rma.Window) Mutex {
	l := padded(cst{})
	l.init(lock, w)
	l.lock, l.outer = &l.side, &l.side
	l.initPart(&l.below, l.home, l.base)
	l.initPart(&l.above, l.home, l.base)
	l.tl = uint64(l.o.TL[l.topo.Levels()-1])
	return l
}

func wordsOfCST(*topology.Tree, Options) Words { return Words{Home: cstHome, Rank: cstRank} }

// Acquire implements Mutex.
func (l *cst) Acquire(ctx context.Context) error {
	l.join()
	return l.cohort.Acquire(ctx)
}

// TryAcquire implements Tryer. It waits for no rank, because the list has an end.
func (l *cst) TryAcquire() bool {
	l.join()
	return l.cohort.TryAcquire()
}

// join makes the queues of the rank's element the rank's own.
func (l *cst) join() {
	if l.local != nil {
		return
	}
	node := l.find()
	l.queue = padded(newAbortQueue(&l.below, l.below.at(node, cstLocal), l.rank, cstOwn))
	l.local = l.queue
	l.global = sharedQueue(&l.above, l.above.atHome(cstTail), node, cstGlobal)
	l.mayGiveUp()
}

// find returns the rank that has the node of the own element. If the list does not have the
// element, the rank adds its own node. A CAS that fails has lost to another element, or to a
// neighbour: the rank looks there again. On a failed window any node will do, because the cohort
// refuses the rank.
func (l *cst) find() (node Rank) {
	n := l.topo.Levels()
	element := l.topo.Element(l.rank, n)
	next := l.atHome(cstFirst)
	for {
		name := next.Load()
		switch {
		case name != 0:
			if node = Rank(name - 1); l.topo.Element(node, n) == element {
				return node
			}
			next = l.at(node, cstNext)
		case next.CompareAndSwap(0, uint64(l.rank)+1) || l.broken():
			return l.rank
		}
	}
}
