package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// cnaQueue is the queue of CNA, the compact NUMA-aware lock of Dice and Kogan, EuroSys'19
// (Uffmann 2022, §6): the queue of mcs.go, which a releaser sorts. It looks for a successor of
// its own element, the finest one that it lives in. The nodes before that one go to a second
// queue, which waits until the element has had its share, or has no more ranks in the first.
//
//	tail ─────────────────────────────────────▶ last
//	first queue    holder a0 ─next─▶ a2 ─next─▶ b2
//	second queue   b0 ─next─▶ a1 ─next─▶ b1             of another element: c0, say
//	               ▲                     ▲
//	grant          head                  rear           and how many in a row
//
// The paper keeps the head of the second queue in the holder's node (spin), and its rear in
// the head's (secTail): on distributed memory, two more words to read and to write at each
// hand-over. Here both travel in the grant, and no word of memory has them:
//
//	63 ... 42   41 ... 20   19 ... 0
//	  rear    │   head    │   run         head and rear: rank+1; 0: the second queue is empty
//
// The paper draws a random number to decide whether the lock stays in the element. Here run
// counts to Options.Batch.
//
// A waiter does not give up: a releaser that moves nodes would have to skip some of them in
// two queues.
//
// Invariant: every waiter stands in one of the queues. Only the holder knows the second one,
// and changes the nexts of nodes. It moves nodes that have a successor only: ranks that line
// up write the last node's next.
//
// Memory order: as for queue. The links are flushed before the holder leaves.
//
// Fairness: there are at most Options.Batch acquisitions in a row inside an element while the
// second queue has ranks. So a rank is overtaken by at most Options.Batch - 1 ranks for each
// rank that was before it.
//
// Cost, away from home: MCS's, if the successor is of the same element. Otherwise a Get for
// each node that the releaser looks at, and one or two Puts to move them.
type cnaQueue struct {
	twoQueues
	level   int // the finest
	element int // the rank's
}

// twoQueues is a queue, and a second one that only the holder knows and the grant carries.
type twoQueues struct {
	queue
	limit      uint64
	run        uint64
	head, rear uint64 // of the second queue
}

// The fields of a grant.
const (
	cnaRunBits  = 20
	cnaRankBits = 22
	cnaRun      = 1<<cnaRunBits - 1
	cnaRank     = 1<<cnaRankBits - 1
)

func newTwoQueues(s *side, home int) twoQueues {
	return twoQueues{queue: newQueue(s, s.atHome(home), s.rank, 0), limit: uint64(s.o.Batch)}
}

func newCNAQueue(s *side, home int) cnaQueue {
	n := s.topo.Levels()
	return cnaQueue{newTwoQueues(s, home), n, s.topo.Element(s.rank, n)}
}

// enter queues up, and takes over the second queue.
func (q *twoQueues) enter(ctx context.Context) (grant uint64, err error) {
	if grant, err = q.queue.enter(ctx); err != nil {
		return none, err
	}
	q.run, q.head, q.rear = max(grant&cnaRun, 1), grant>>cnaRunBits&cnaRank, grant>>(cnaRunBits+cnaRankBits)
	return min(grant, granted), nil
}

// tryEnter enters the queue if it is empty, and reports whether it did.
func (q *twoQueues) tryEnter() bool {
	q.run, q.head, q.rear = 1, 0, 0
	return q.queue.tryEnter()
}

// handOn gives the lock to a successor, or leaves the queues empty.
func (q *cnaQueue) handOn() {
	succ := q.next.Load()
	if succ == 0 {
		if q.tail.CompareAndSwap(q.name, q.rear) { // the second queue becomes the first
			if q.head != 0 {
				q.give(q.head, 1, 0, 0)
			}
			return
		}
		var err error
		if succ, err = q.next.await(forever(), rma.IsNot(0)); err != nil {
			return
		}
	}
	if q.run < q.limit {
		if near := q.findSuccessor(succ); near != 0 {
			q.side.counts.passed.Inc()
			q.give(near, q.run+1, q.head, q.rear)
			return
		}
	}
	if q.head != 0 { // the second queue comes before the first
		q.link(q.rear, succ)
		succ = q.head
	}
	q.give(succ, 1, 0, 0)
}

// findSuccessor is the next rank of the own element, from a node on, or 0. The nodes before
// it go to the second queue (find_successor).
func (q *cnaQueue) findSuccessor(from uint64) uint64 {
	prev, curr := uint64(0), from
	for q.side.topo.Element(Rank(curr-1), q.level) != q.element {
		next := q.side.at(Rank(curr-1), nodeNext)
		if prev, curr = curr, next.Load(); curr == 0 {
			return 0
		}
	}
	if prev != 0 {
		if q.head == 0 {
			q.head = from
		} else {
			q.link(q.rear, from)
		}
		q.rear = prev
		next := q.side.at(Rank(prev-1), nodeNext)
		next.Store(0)
	}
	return curr
}

// link puts a node behind another one.
func (q *twoQueues) link(node, behind uint64) {
	next := q.side.at(Rank(node-1), nodeNext)
	next.Store(behind)
}

// give gives the lock and the second queue to a rank.
func (q *twoQueues) give(succ, run, head, rear uint64) {
	q.handTo(succ, run|head<<cnaRunBits|rear<<(cnaRunBits+cnaRankBits))
}

// cna is CNA.
type cna struct {
	side
	cnaQueue
}

func newCNA(lock *Lock, w rma.Window) Mutex {
	l := padded(cna{})
	l.init(lock, w)
	l.cnaQueue = newCNAQueue(&l.side, 0)
	return l
}

func wordsOfCNA(*topology.Tree, Options) Words { return Words{Home: 1, Rank: nodeWords} }

// Acquire implements Mutex.
func (l *cna) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	grant, err := l.enter(ctx)
	if err != nil {
		return err
	}
	l.came(writing, entry{grant: grant, waited: grant != none, upper: l.run == 1})
	return nil
}

// TryAcquire implements Tryer.
func (l *cna) TryAcquire() bool {
	if l.begin(forever()) != nil || !l.tryEnter() {
		return false
	}
	l.came(writing, entry{upper: true})
	return true
}

// Release implements Mutex.
func (l *cna) Release() {
	if l.end(writing) {
		l.handOn()
	}
}

// Alone implements Cohort. Ranks of the second queue wait, too.
func (l *cna) Alone() bool { return l.head == 0 && l.alone() }

// cnas are the rows of the table: CNA, alone and behind a spin lock.
func cnas() []Spec {
	return []Spec{
		{
			Name: "CNA", Paper: "Uffmann22 §6", About: "MCS that keeps ranks of other elements in a second queue",
			Fairness: "Batch in a row", Words: wordsOfCNA, Options: []string{"Batch"}, at: newCNA,
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 1, Puts: 2}},
		},
		{
			Name: "Fissile", Paper: "Uffmann22 §6", About: "TAS before CNA, whose head loses its patience",
			Fairness: "none until the head is impatient, then Batch in a row",
			Words:    wordsOfFissile, Options: []string{"Batch", "Backoff", "Patience"}, at: newFissile,
			Cost: Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 4, Puts: 1, Unbounded: true}},
		},
	}
}
