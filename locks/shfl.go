package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// shuffler is the queue of SHFL (Kashyap et al., SOSP'19; Uffmann 2022, §5.7): the queue of
// mcs.go, which waiters sort. One rank at a time is the shuffler. It walks along the nodes
// behind its own, and moves the nodes of its own element, the finest one that it lives in, to
// the front: a batch. Then it appoints the last rank that it has moved.
//
//	tail ──────────────────────────────────────────▶ last
//	before  head a0 ─next─▶ b0 ─next─▶ a1 ─next─▶ b1 ─next─▶ last
//	after   head a0 ─next─▶ a1 ─next─▶ b0 ─next─▶ b1 ─next─▶ last
//	batch        1          2          0          0          0
//
// The head is the shuffler if it belongs to no batch, or was appointed. A rank that waits for
// its turn is the shuffler if it was appointed: its status says so, which it awaits anyway.
//
//	status  0 ──the shuffler──▶ appointed ──the rank, which sorts──▶ 0 ──the head──▶ granted
//	        └───────────────────the head──▶ granted      └─────the head──▶ granted
//
// A rank cannot learn from its status that it is the shuffler and give up, so it stays: Aborts
// is Never. The shuffler stops when its own turn has come.
//
// A waiter that has moved a rank appoints the last one of its batch. One that has moved none waits for its turn and
// sorts again as the head: it would have to walk again and again, and each step is an operation. The original's walks on.
//
// The element of a node follows from its name. So nothing is read for it; the thesis, §5.7.1,
// keeps it in a variable.
//
// Invariant: the nodes before the shuffler's belong to batches. So no second rank sorts. The
// shuffler changes the nexts of nodes that have a successor only, and no other rank touches
// these: a rank that lines up writes the last node's, and the head reads its own.
//
// Memory order: each link is flushed. The rank before the shuffler cannot reach them before
// the shuffler has had its turn.
//
// Fairness: a batch has at most Options.Batch ranks. So a rank is overtaken by at most
// Options.Batch - 1 ranks for each rank that was before it.
//
// Cost, away from home: the shuffler's walk besides, two Gets for each node, and three to
// five Puts for each node that it moves.
type shuffler struct {
	queue
	batch     word // of the own node
	appointed bool
	limit     uint64
	level     int // the finest
	element   int // the rank's
}

// The word that SHFL's nodes have besides a queue's.
const (
	shflBatch = nodeWords
	shflWords = shflBatch + 1
)

// appointed is the status of a rank that is the shuffler and waits.
const appointed = granted + 1

func newShuffler(s *side) queueBelow {
	n := s.topo.Levels()
	return &shuffler{
		queue: newQueue(s, s.atHome(1), s.rank, 0), batch: s.at(s.rank, shflBatch),
		limit: uint64(s.o.Batch), level: n, element: s.topo.Element(s.rank, n),
	}
}

func wordsOfSHFL(*topology.Tree, Options) Words { return Words{Home: 2, Rank: shflWords} }

// patience implements queueBelow: a rank stays.
func (s *shuffler) patience(context.Context) context.Context { return forever() }

// enter implements queueBelow.
func (s *shuffler) enter(context.Context) (grant uint64, err error) {
	pred := s.tail.Swap(s.name)
	if pred == 0 {
		return none, s.side.decided()
	}
	next := s.side.at(Rank(pred-1), nodeNext)
	next.publish(s.name)
	for {
		if grant, err = s.status.await(forever(), rma.IsNot(0)); err != nil {
			return none, s.side.fail(err)
		}
		s.appointed = grant == appointed
		if !s.appointed || !s.status.CompareAndSwap(appointed, 0) {
			s.status.Store(0)
			return granted, nil
		}
		s.shuffle(func() bool { return s.status.Load() != 0 })
	}
}

// sort implements queueBelow.
func (s *shuffler) sort(top *word) {
	if s.appointed || s.batch.Load() == 0 {
		s.shuffle(func() bool { return top.Load()&topLocked == 0 })
	}
}

// shuffle brings the ranks of the own element to the front, behind the own node
// (shuffle_waiters). It ends early when the own turn has come. If it has moved no rank, the
// rank stays the shuffler.
func (s *shuffler) shuffle(over func() bool) {
	batch := max(s.batch.Load(), 1)
	s.batch.Store(batch)
	s.appointed = false
	last, prev := s.name, s.name // the last of the batch; the node before the one to look at
	for batch < s.limit {
		curr := s.successorOf(prev)
		if curr == 0 {
			break
		}
		behind := s.successorOf(curr)
		if behind == 0 {
			break // ranks line up behind it
		}
		if s.side.topo.Element(Rank(curr-1), s.level) == s.element {
			batch++
			s.number(curr, batch)
			if prev == last {
				prev = curr
			} else {
				s.link(prev, behind)
				s.link(curr, s.successorOf(last))
				s.link(last, curr)
			}
			last = curr
		} else {
			prev = curr
		}
		if over() {
			break
		}
	}
	switch {
	case last != s.name:
		status := s.side.at(Rank(last-1), nodeStatus)
		status.publish(appointed)
	case batch < s.limit:
		s.appointed = true
	}
}

// successorOf is the node behind a node, or 0.
func (s *shuffler) successorOf(node uint64) uint64 {
	next := s.side.at(Rank(node-1), nodeNext)
	return next.Load()
}

// link puts a node behind another one.
func (s *shuffler) link(node, behind uint64) {
	next := s.side.at(Rank(node-1), nodeNext)
	next.Store(behind)
}

// number says which rank of a batch a node's is.
func (s *shuffler) number(node, batch uint64) {
	word := s.side.at(Rank(node-1), shflBatch)
	word.Store(batch)
}

// handOn implements queueBelow.
func (s *shuffler) handOn(grant uint64) (last bool) {
	s.appointed = false
	s.batch.Store(0)
	return s.queue.handOn(grant)
}
