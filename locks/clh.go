package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// clh is the queue lock of Craig and of Landin and Hagersten (Uffmann 2022,
// §5.3.1, Abbildung 5.1). The queue is known to nobody as a whole: whoever lines
// up swaps its node into the tail, and learns whose node stood there; that is
// the one it watches.
//
//	tail ──────────────────────────────────────────▶ node of the last
//	node of the holder ◀─watches─ waiter ◀─watches─ waiter
//
// Nodes travel: a release leaves the node to the successor that watches it, and
// takes the predecessor's, which nobody watches any more. There is one node for
// each rank and a spare one at home, node 0, which stands in the tail of a new
// lock, released.
//
// # Turns
//
// The printed lock marks the node as locked before it swaps the tail. Here a
// node has a turn instead, one more each time it stands in the queue. The tail
// names node and turn, and a node is released if its flag shows the turn: a node
// that has just been put into the tail is locked because its flag still shows
// the turn before. That spares a store, which costs as much as the swap.
//
//	          63 ... 30   29 ... 0
//	tail     │  turn   │  node    │    node: 0, or rank+1 of the one that had it first
//	flag     │  turn   │  grant   │
//
// Only the rank that owns a node writes its flag, and knows its turn: it has
// read it in the tail when it came by the node.
//
// The turn is also what makes TryAcquire right. Its CAS of the tail must fail if
// the node that it has found released was taken, and put back, meanwhile; then
// the turn differs. A rank would have to sleep between two instructions through
// a multiple of 2^34 turns of the node, and not one more, for the CAS to be
// deceived.
//
// With turns, nodes would not have to travel: a rank that lines up again stands
// behind whoever watches its node for the last turn, and does not write the flag
// before. They do because that is the lock; in clhNUMA they must.
//
// Invariant: every node is owned by one rank, stands in the queue for one, or is
// the tail's and released. At most one rank watches a node.
//
// Memory order: the flush of a release completes what the holder did, before the
// store of the flag, itself flushed, lets the successor go on. That flush is
// also what keeps the flag of one turn from overwriting that of the next, which
// another rank writes.
//
// Cost, away from home: a swap and a look at the predecessor's node to acquire,
// a Put to the own one to release; a node is near by chance only. Behind a
// predecessor the rank awaits a word of another rank: in shared memory that is
// the queue lock with the fewest memory accesses, elsewhere every look is a round
// trip, which is why CLH does not do there.
type clh struct {
	s     *seat
	tail  word
	nodes [2]clhNode
	mine  uint // its last bit says which of them is owned
}

// clhNode is a node as a rank knows it.
type clhNode struct {
	flag word
	name uint64 // turn and number, of which the tail holds it, or is to hold it next
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

func newCLH(s *seat) inner {
	return apart(newCLHQueue(s))
}

func wordsOfCLH(*topology.Tree, Options) Words { return Words{Home: clhHome, Rank: 1} }

func newCLHQueue(s *seat) clh {
	c := clh{s: s, tail: s.atHome(clhTail)}
	c.nodes[0] = clhNode{flag: s.at(s.rank, 0), name: clhTurn + uint64(s.rank) + 1}
	c.nodes[1] = clhNode{flag: s.atHome(clhSpare)}
	s.goesAlone(lone{tail: c.tail, present: c.nodes[0].name, sure: c.nodes[1].flag})
	return c
}

// own is the node that the rank owns, or that stands in the queue for it.
func (c *clh) own() *clhNode { return &c.nodes[c.mine&1] }

// other is the predecessor's node.
func (c *clh) other() *clhNode { return &c.nodes[c.mine&1^1] }

// released reports whether the flag shows that the node's turn is over.
func (n *clhNode) released(flag uint64) bool { return (flag^n.name)&clhHigh == 0 }

// lineUp puts the own node at the end of the queue, and returns the one before.
func (c *clh) lineUp() *clhNode {
	name, lined := c.s.lone.arrived()
	if !lined {
		name = c.tail.swap(c.own().name)
	}
	pred := c.other()
	if (pred.name^name)&clhLow != 0 {
		return c.meet(name)
	}
	// A rank that is alone comes upon the node again that it has released.
	pred.name = name
	return pred
}

// meet makes the node that the tail has named the predecessor's.
func (c *clh) meet(name uint64) *clhNode {
	pred := c.other()
	if number := name & clhLow; number == 0 {
		pred.flag = c.s.atHome(clhSpare)
	} else {
		pred.flag = c.s.at(Rank(number-1), 0)
	}
	pred.name = name
	return pred
}

// enter implements core.
func (c *clh) enter(context.Context) (grant uint64, err error) {
	pred := c.lineUp()
	flag := pred.flag.load()
	if pred.released(flag) {
		return found(flag), c.s.decided()
	}
	flag, err = pred.flag.await(context.Background(), rma.Is(pred.name&clhHigh).Masked(clhHigh))
	if err != nil {
		return 0, c.s.fail(err)
	}
	return flag & clhLow, nil
}

// found is the grant in the flag of a node that had been released before anybody
// looked. A plain one was left to nobody in particular. Any other was left to
// the rank that finds it: the holder had seen it line up.
func found(flag uint64) uint64 {
	if grant := flag & clhLow; grant != granted {
		return grant
	}
	return 0
}

// tryEnter implements core.
func (c *clh) tryEnter() bool {
	name := c.tail.load()
	before := *c.other()
	pred := c.meet(name)
	if !pred.released(pred.flag.load()) || !c.tail.cas(name, c.own().name) {
		*pred = before
		return false
	}
	return true
}

// alone implements inner.
func (c *clh) alone() bool { return c.tail.load() == c.own().name }

// leave implements core.
func (c *clh) leave(grant uint64) {
	own := c.own()
	flag := own.name&clhHigh | grant
	if !c.s.direct || c.tail.load() != own.name {
		own.flag.publish(flag)
		c.s.gaveWay()
	} else {
		own.flag.store(flag)
		// Who lines up from now on sees the flag before it waits, and a look at the
		// tail is cheaper than one for waiters.
		if c.tail.load() != own.name {
			own.flag.wake()
		}
	}
	c.left(flag)
}

// left is the end of a turn, which the flag shows: the rank owns the predecessor's node
// now, and is alone as long as its former one stands in the tail.
func (c *clh) left(flag uint64) {
	l, former := &c.s.lone, c.own()
	l.sure, l.shows, l.absent = former.flag, flag, former.name
	c.mine++
	own := c.own()
	own.name += clhTurn
	l.present = own.name
}
