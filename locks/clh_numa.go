package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// clhNUMA is Craig's CLH for machines without coherent caches (Uffmann 2022, §5.3.2,
// Abbildung 5.2). A waiter tells its predecessor where it waits, in a word of its own.
//
//	tail ───────────────────▶ node of the last
//	node of the holder ─────▶ waiter's word        node of a waiter ─────▶ ...
//
// Queue, nodes and turns are clhQueue's. A node has a status instead of a flag.
// Holder and waiter both swap it, and the second of them learns of the first:
//
//	          turn before ──the waiter──▶ turn, rank ──the holder, who tells it──▶ turn, grant
//	(locked)       └──────────the holder──▶ turn, grant ──the waiter, who goes on──▶ turn, rank
//
// Either way the node is the waiter's in the end, and shows the turn that is over. Only one
// rank lines up behind a node in a turn and puts its number there; until it has, the turn
// in the status means: released. Therefore the node must not stand in the queue again before:
// it has to travel.
//
// Invariant: clhQueue's; and a rank's word is zero unless the rank is being told.
//
// Memory order: as for clhQueue. The word is told by a Put, flushed, after everything that
// the holder did.
//
// Cost, away from home: a swap of the tail and one of the predecessor's status to acquire,
// one of the own status to release, where either node is near by chance only, and a Put to
// the successor if there is one.
type clhNUMA struct {
	side
	clhQueue
	wait word // the rank's own
}

// The words of CLH-NUMA at each rank.
const (
	clhNUMAStatus = iota
	clhNUMAWait
	clhNUMARank
)

func wordsOfCLHNUMA(*topology.Tree, Options) Words {
	return Words{Home: clhHome, Rank: clhNUMARank}
}

func newCLHNUMA(lock *Lock, w rma.Window) Mutex {
	l := padded(clhNUMA{})
	l.init(lock, w)
	l.clhQueue, l.wait = newCLHQueue(&l.side), l.at(l.rank, clhNUMAWait)
	return l
}

// Acquire implements Mutex.
func (l *clhNUMA) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	return l.entered(l.enter(ctx))
}

func (l *clhNUMA) enter(context.Context) (grant uint64, err error) {
	pred := l.meet(l.tail.Swap(l.own().name))
	status := pred.flag.Swap(pred.name&clhHigh | uint64(l.rank))
	if pred.released(status) {
		return none, l.decided()
	}
	if grant, err = l.wait.await(forever(), rma.IsNot(0)); err != nil {
		return none, l.fail(err)
	}
	l.wait.Store(0)
	return grant, nil
}

// TryAcquire implements Tryer.
func (l *clhNUMA) TryAcquire() bool { return l.try(l) }

// Release implements Mutex.
func (l *clhNUMA) Release() {
	if l.end(writing) {
		l.leave(granted)
	}
}

func (l *clhNUMA) leave(grant uint64) {
	own := l.own()
	if status := own.flag.Swap(own.name&clhHigh | grant); own.released(status) {
		wait := l.at(Rank(status&clhLow), clhNUMAWait)
		wait.publish(grant)
		l.handedOver()
	}
	l.trade()
}

// Alone implements Cohort.
func (l *clhNUMA) Alone() bool { return l.alone() }

// hclh is HCLH, the lock of Luchangco, Nussbaum and Shavit, Euro-Par'06 (Uffmann 2022, §5.3):
// CLH with a queue for each element of the finest level. The first rank in it, its master,
// puts the queue as it is behind the last one of the global queue.
//
//	local tail of element 0 ───────────────────────▶ node (not spliced yet)
//	                                                    │ watches
//	global tail ──▶ node ◀─watches─ node ◀─watches─ node ◀
//	                element 1       └── element 0 ──┘
//
// A rank swaps its node into the tail of its element, and looks at the node that stood there:
//
//   - There is none, or it is spliced: the rank is the master. It reads the local tail, swaps
//     it into the global tail, marks it as spliced, and waits for the node that it found in
//     the global tail. Ranks that come to the element after that have the marked node before
//     them, so the next master is among them.
//   - It is not spliced yet, and its rank hands over: the rank has the lock.
//
// Nodes travel, and have turns, as in clhQueue. The last mark of a node tells its turn, too:
//
//	       63 ... 30   29 ... 0
//	tail  │  turn   │  node    │    node: 0, or rank+1 of the one that had it first
//	flag  │  turn   │  state   │    of a turn before: locked, and not spliced
//
//	(locked) ──its rank hands over──▶ turn, passed
//	   └───the master──▶ turn, spliced ──its rank hands over──▶ turn, 0
//
// A node that is passed belongs to its neighbour behind; one that is released after it was
// spliced belongs to the master behind it in the global queue. The master may use it anew before
// a neighbour has looked at it. The neighbour then sees a later turn, and knows that the
// node was spliced. As printed, nodes name their elements for that, and are reset in
// each release.
//
// Invariant: every node is owned by one rank, or stands in the queue for one. The master of an
// element is the only one of its ranks between its look at the local tail and its mark. A
// node that is marked as spliced is the last of its element in the global queue.
//
// The mark comes before the master waits. So it is there before the marked node's rank
// has the lock: that rank is the master, or behind it.
//
// Memory order: side.end completes what the holder did, before the store of the flag,
// which is flushed itself. So is the mark: late, it would overwrite the release.
//
// Fairness: the ranks of an element that are in the local queue when their master splices it
// have the lock one after the other, each once, and the others follow in the order of the
// masters. A rank gets in the global queue as soon as it looks at a spliced node.
//
// Cost, away from the home and the element's tail rank: a swap of either tail, a look at the
// local one and at the node before in each queue, a mark, and a look at the own flag and a
// Put to it to release. A rank that waits does so at another rank's word, as in CLH.
type hclh struct {
	side
	local, global word
	own, pred     clhNode
}

// The states of a node's flag in the turn that it shows. Zero: released after it was spliced.
const (
	hclhSpliced = 1 // the last of its element in the global queue, and locked
	hclhPassed  = 2 // released, and not spliced: its neighbour has the lock
)

// The words of HCLH at home, and at each rank.
const (
	hclhGlobal = iota
	hclhSpare
	hclhHome

	hclhLocal = iota - hclhHome - 1
	hclhNode
	hclhRank
)

func wordsOfHCLH(*topology.Tree, Options) Words { return Words{Home: hclhHome, Rank: hclhRank} }

func newHCLH(lock *Lock, w rma.Window) Mutex {
	l := padded(hclh{})
	l.init(lock, w)
	n := l.topo.Levels()
	l.local = l.at(l.topo.TailRank(n, l.topo.Element(l.rank, n)), hclhLocal)
	l.global = l.atHome(hclhGlobal)
	l.own = l.node(clhTurn + uint64(l.rank) + 1)
	return l
}

// node is the node that a tail names.
func (l *hclh) node(name uint64) clhNode {
	if number := name & clhLow; number != 0 {
		return clhNode{l.at(Rank(number-1), hclhNode), name}
	}
	return clhNode{l.atHome(hclhSpare), name}
}

// Acquire implements Mutex.
func (l *hclh) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	var e entry
	if e.waited, e.upper = l.follow(l.local.Swap(l.own.name)); e.upper {
		e.grant = l.splice()
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.came(writing, e)
	return nil
}

// follow waits behind a neighbour until that hands over, or is spliced. In the second case
// the rank is the master. A tail that is zero names the spare node in a turn that is over.
// follow also returns if the window fails; so does splice.
func (l *hclh) follow(name uint64) (waited, master bool) {
	l.pred = l.node(name)
	flag := l.pred.flag.Load()
	if before := (name - clhTurn) & clhHigh; flag&clhHigh == before {
		waited = true
		flag, _ = l.pred.flag.await(forever(), rma.IsNot(before).Masked(clhHigh))
	}
	return waited, flag != name&clhHigh|hclhPassed
}

// splice puts the ranks of the element behind the last one of the global queue, and waits
// for that. It returns granted if it had to wait.
func (l *hclh) splice() (grant uint64) {
	last := l.node(l.local.Load())
	l.pred = l.node(l.global.Swap(last.name))
	last.flag.publish(last.name&clhHigh | hclhSpliced)
	released := l.pred.name & clhHigh
	if l.pred.flag.Load() == released {
		return none
	}
	_, _ = l.pred.flag.await(forever(), rma.Is(released))
	return granted
}

// TryAcquire implements Tryer. It becomes the master of an element where no rank waits for one,
// and splices itself if the global queue has not changed. Otherwise it lets go of its node as
// if that had been spliced, so that a neighbour behind it is the master. No other rank has
// found the node in the global tail: it stays the rank's own.
func (l *hclh) TryAcquire() bool {
	if l.begin(forever()) != nil {
		return false
	}
	last, before := l.node(l.global.Load()), l.node(l.local.Load())
	if last.flag.Load() != last.name&clhHigh || before.flag.Load()&clhHigh == (before.name-clhTurn)&clhHigh ||
		!l.local.CompareAndSwap(before.name, l.own.name) {
		return false
	}
	if l.global.CompareAndSwap(last.name, l.own.name) {
		l.pred = last
		l.own.flag.publish(l.own.name&clhHigh | hclhSpliced)
		return l.tried(writing, true)
	}
	l.own.flag.publish(l.own.name & clhHigh)
	l.own.name += clhTurn
	return false
}

// Release implements Mutex.
func (l *hclh) Release() {
	if !l.end(writing) {
		return
	}
	own := &l.own
	turn := own.name & clhHigh
	if own.flag.Load() == turn|hclhSpliced {
		own.flag.Store(turn)
	} else {
		l.counts.passed.Inc()
		own.flag.Store(turn | hclhPassed)
	}
	if own.flag.mustTell() && !l.Alone() {
		own.flag.wake()
		l.handedOver()
	}
	l.own = clhNode{l.pred.flag, l.pred.name + clhTurn}
}

// Alone implements Cohort. A neighbour behind the rank is in the global queue, too, or about
// to be.
func (l *hclh) Alone() bool { return l.global.Load() == l.own.name }
