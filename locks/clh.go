package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// clhQueue is the queue of CLH, the lock of Craig and of Landin and Hagersten (Uffmann
// 2022, §5.3.1, Abbildung 5.1). No rank knows the queue as a whole. A rank that lines up
// swaps its node into the tail, and learns whose node stood there: it watches that one.
//
//	tail ──────────────────────────────────────────▶ node of the last
//	node of the holder ◀─watches─ waiter ◀─watches─ waiter
//
// Nodes travel. A release leaves the node to the successor that watches it, and takes the
// predecessor's, which no rank watches any more. There is one node for each rank, and a
// spare one at home, node 0, which stands in the tail of a new lock, released.
//
// # Turns
//
// The printed lock marks the node as locked before it swaps the tail. Here a node has a
// turn instead, one more each time it stands in the queue. The tail names node and turn,
// and a node is released if its flag shows the turn: a node that has just been put into
// the tail is locked because its flag still shows the turn before. Turns spare a store,
// which costs as much as the swap.
//
//	          63 ... 30   29 ... 0
//	tail     │  turn   │  node    │    node: 0, or rank+1 of the one that had it first
//	flag     │  turn   │  grant   │
//
// Only the rank that owns a node writes its flag, and it knows the node's turn: it read it
// in the tail when it came by the node.
//
// The turn also makes TryAcquire right. Its CAS of the tail must fail if the node that it
// found released was taken, and put back, meanwhile; then the turn differs. A rank would
// have to sleep between two instructions through a multiple of 2^34 turns of the node for
// the CAS to be deceived.
//
// With turns, nodes would not have to travel: a rank that lines up again stands behind the
// rank that watches its node for the last turn, and does not write the flag before. They
// travel because that is the lock; in CLH-NUMA they must.
//
// Invariant: every node is owned by one rank, stands in the queue for one, or is the tail's
// and released. At most one rank watches a node.
//
// Memory order: side.end completes what the holder did, before the store of the flag,
// itself flushed, lets the successor go on. The same flush keeps the flag of one turn from
// overwriting the flag of the next turn, which another rank writes.
//
// Cost, away from home: a swap and a look at the predecessor's node to acquire, a Put to the
// own one to release; a node is near by chance only. Behind a predecessor the rank awaits a
// word of another rank. In shared memory that is the queue lock with the fewest memory
// accesses; elsewhere every look is a round trip, which is why CLH does not do there.
type clhQueue struct {
	side  *side
	tail  word
	nodes [2]clhNode
	mine  uint // its last bit says which of them is owned
}

// clhNode is a node as a rank knows it.
type clhNode struct {
	flag word
	name uint64 // turn and number, as the tail names it, or will name it next
}

// The fields of the words.
const (
	clhTurn = 1 << 30 // the first turn
	clhLow  = clhTurn - 1
	clhHigh = ^uint64(clhLow)
)

// The words of CLH at home.
const (
	clhTail = iota
	clhSpare
	clhHome
)

func wordsOfCLH(*topology.Tree, Options) Words { return Words{Home: clhHome, Rank: 1} }

func newCLHQueue(s *side) clhQueue {
	c := clhQueue{side: s, tail: s.atHome(clhTail)}
	c.nodes[0] = clhNode{flag: s.at(s.rank, 0), name: clhTurn + uint64(s.rank) + 1}
	c.nodes[1] = clhNode{flag: s.atHome(clhSpare)}
	return c
}

func newCLHPart(s *side) local { return padded(newCLHQueue(s)) }

// own is the node that the rank owns, or that stands in the queue for it.
func (c *clhQueue) own() *clhNode { return &c.nodes[c.mine&1] }

// other is the predecessor's node.
func (c *clhQueue) other() *clhNode { return &c.nodes[c.mine&1^1] }

// released reports whether the flag shows that the node's turn is over.
func (n *clhNode) released(flag uint64) bool { return (flag^n.name)&clhHigh == 0 }

// meet makes the node that the tail has named the predecessor's. A rank that meets no other
// rank comes upon the node again that it has released.
func (c *clhQueue) meet(name uint64) *clhNode {
	pred := c.other()
	if (pred.name^name)&clhLow != 0 {
		c.find(pred, name)
	}
	pred.name = name
	return pred
}

// find gives n the flag of the node with that name.
func (c *clhQueue) find(n *clhNode, name uint64) {
	if number := name & clhLow; number == 0 {
		n.flag = c.side.atHome(clhSpare)
	} else {
		n.flag = c.side.at(Rank(number-1), 0)
	}
}

// enter implements part: the own node goes to the end of the queue, behind pred.
func (c *clhQueue) enter(context.Context) (grant uint64, err error) {
	pred := c.meet(c.tail.Swap(c.own().name))
	flag := pred.flag.Load()
	if pred.released(flag) {
		return left(flag), c.side.decided()
	}
	if flag, err = pred.flag.await(forever(), rma.Is(pred.name&clhHigh).Masked(clhHigh)); err != nil {
		return none, c.side.fail(err)
	}
	return flag & clhLow, nil
}

// left is the grant in the flag of a node that was released before another rank looked. A
// plain one was left to no rank in particular. Any other was left to the rank that finds
// it: the holder had seen it line up.
func left(flag uint64) uint64 {
	if grant := flag & clhLow; grant != granted {
		return grant
	}
	return none
}

// tryEnter implements part.
func (c *clhQueue) tryEnter() bool {
	name := c.tail.Load()
	before := *c.other()
	pred := c.meet(name)
	if !pred.released(pred.flag.Load()) || !c.tail.CompareAndSwap(name, c.own().name) {
		*pred = before
		return false
	}
	return true
}

// alone implements part.
func (c *clhQueue) alone() bool { return c.tail.Load() == c.own().name }

// leave implements part. A rank that lines up after the look at the tail sees the flag
// before it waits.
func (c *clhQueue) leave(grant uint64) {
	own := c.own()
	own.flag.Store(own.name&clhHigh | grant)
	if own.flag.mustTell() && c.tail.Load() != own.name {
		own.flag.wake()
		c.side.handedOver()
	}
	c.trade()
}

// trade is the end of a turn: the rank owns the predecessor's node now.
func (c *clhQueue) trade() {
	c.mine++
	c.own().name += clhTurn
}

// clh is CLH.
type clh struct {
	side
	clhQueue
}

func newCLH(lock *Lock, w rma.Window) Mutex {
	l := padded(clh{})
	l.init(lock, w)
	l.clhQueue = newCLHQueue(&l.side)
	return l
}

// Acquire implements Mutex.
func (l *clh) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *clh) TryAcquire() bool { return l.try(&l.clhQueue) }

// Release implements Mutex.
func (l *clh) Release() {
	if l.complete(); l.ends(writing) || l.end(writing) {
		l.leave(granted)
	}
}

// Alone implements Cohort.
func (l *clh) Alone() bool { return l.alone() }
