package printed

import (
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// rmaMCS is RMA-MCS-Acc: RMA-MCS (Schmid, Besta and Hoefler, HPDC'16, §3) as the authors' program has it. A rank reaches
// each word by a call, also those of its own node. It makes itself known and hands over by an Accumulate (Uffmann 2022,
// §3.3), where the listings have a Put.
//
//	tail (home)                       one queue for all elements
//	 element ─next─▶ element
//	 tail (tail rank)                 one queue for the ranks of an element, at each level below
//	 holder ─next─▶ waiter
//
// The ranks of an element share a node in the queue above. It lies at the element's tail rank, as Uffmann says (§5.4.2).
//
// RMA-MCS of package locks reads and clears words only where it has to, and by instructions where ranks share memory.
//
// Line numbers refer to listings 4 (enter) and 5 (leave).
type rmaMCS struct {
	*side
	levels []rmaLevel // from the root to the finest
}

// rmaLevel is a rank's queue of a level, and the node that stands in it for the rank.
type rmaLevel struct {
	tailRank rma.Rank
	tail     rma.Disp
	node     rma.Rank // keeps the node
	words    rma.Disp // of a node
}

// name is the node's, in tails and nexts.
func (l *rmaLevel) name() uint64 { return uint64(l.node) + 1 }

// The words of a level at each rank: a node, and the tail of an element.
const (
	rmaNext = iota
	rmaStatus
	rmaTail
	rmaWords
)

// The values of a status. Any other is the number of acquisitions in a row inside an element.
const (
	rmaWait   = 0
	rmaStart  = 1 // ACQUIRE_START
	rmaParent = ^uint64(0)
)

func newRMAMCS(s *side, at words) algorithm {
	l := &rmaMCS{side: s}
	for i := 1; i <= at.tree.Levels(); i++ {
		words := at.rank + rma.Disp((i-1)*rmaWords)
		v := rmaLevel{tailRank: at.home, tail: at.tail, node: s.w.Rank(), words: words}
		if i > 1 {
			v.tailRank, v.tail = at.tree.TailRank(i, at.tree.Element(s.w.Rank(), i)), words+rmaTail
		}
		if i < at.tree.Levels() {
			v.node = at.tree.TailRank(i+1, at.tree.Element(s.w.Rank(), i+1))
		}
		l.levels = append(l.levels, v)
	}
	return l
}

func (l *rmaMCS) enter() (waited bool, err error) {
	for k := len(l.levels) - 1; ; k-- {
		q := &l.levels[k]
		l.prepare(q)
		pred := l.w.FetchOp(q.tailRank, q.tail, rma.Replace, q.name()) // l. 4-6
		if pred != 0 {                                                 // l. 7
			waited = waited || k == len(l.levels)-1
			l.replace(rma.Rank(pred-1), q.words+rmaNext, q.name())                // l. 8
			status, err := l.await(q.node, q.words+rmaStatus, rma.IsNot(rmaWait)) // l. 9-12
			if err != nil || status != rmaParent {                                // l. 13-19
				return waited, err
			}
		}
		l.put(q.node, q.words+rmaStatus, rmaStart) // l. 22
		if k == 0 {
			return waited, nil
		}
	} // l. 23
}

// prepare is l. 2-3.
func (l *rmaMCS) prepare(q *rmaLevel) {
	l.w.Put(q.node, q.words+rmaNext, 0)
	l.put(q.node, q.words+rmaStatus, rmaWait)
}

func (l *rmaMCS) tryEnter() bool {
	for k := len(l.levels) - 1; k >= 0; k-- {
		q := &l.levels[k]
		if l.w.Get(q.tailRank, q.tail) != 0 {
			l.giveBack(k + 1)
			return false
		}
		l.prepare(q)
		if l.w.CAS(q.tailRank, q.tail, 0, q.name()) != 0 {
			l.giveBack(k + 1)
			return false
		}
		l.put(q.node, q.words+rmaStatus, rmaStart)
	}
	return true
}

// giveBack leaves the queues from a level to the finest, above which the rank has none.
func (l *rmaMCS) giveBack(from int) {
	for k := from; k < len(l.levels); k++ {
		l.leaveQueue(k, 0)
	}
}

func (l *rmaMCS) leave() { l.release(len(l.levels) - 1) }

func (l *rmaMCS) release(k int) {
	q := &l.levels[k]
	succ := l.w.Get(q.node, q.words+rmaNext) // l. 3
	if k > 0 {
		status := l.w.Get(q.node, q.words+rmaStatus) // l. 4
		if succ != 0 && status < locks.DefaultTL {   // l. 5
			l.replace(rma.Rank(succ-1), q.words+rmaStatus, status+1) // l. 8
			l.handedOver()
			return
		}
		l.release(k - 1) // l. 12
	}
	l.leaveQueue(k, succ)
}

// leaveQueue leaves a queue to a successor, if there is one: l. 13-23.
func (l *rmaMCS) leaveQueue(k int, succ uint64) {
	q := &l.levels[k]
	if succ == 0 {
		if l.w.CAS(q.tailRank, q.tail, q.name(), 0) == q.name() {
			return
		}
		var err error
		if succ, err = l.await(q.node, q.words+rmaNext, rma.IsNot(0)); err != nil {
			return
		}
	}
	grant := uint64(rmaParent)
	if k == 0 {
		grant = rmaStart // the root has no parent
	}
	l.replace(rma.Rank(succ-1), q.words+rmaStatus, grant)
	l.handedOver()
}
