package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// clhNUMA is Craig's CLH for machines without coherent caches (Uffmann 2022,
// §5.3.2, Abbildung 5.2): a waiter tells its predecessor where it waits, in a word
// of its own.
//
//	tail ───────────────────▶ node of the last
//	node of the holder ─────▶ waiter's word        node of a waiter ─────▶ ...
//
// Queue, nodes and turns are those of clh. A node has a status instead of a flag,
// which holder and waiter both swap; whoever comes second learns of the other:
//
//	          turn before ──the waiter──▶ turn, rank ──the holder, who tells it──▶ turn, grant
//	(locked)       └──────────the holder──▶ turn, grant ──the waiter, who goes on──▶ turn, rank
//
// Either way the node is the waiter's in the end, and shows the turn that is
// over. Only one rank lines up behind a node in a turn and puts its number there;
// until it has, the turn in the status means: released. That is why the node must
// not stand in the queue again before: it has to travel.
//
// Invariant: that of clh; and a rank's word is zero unless it is being told.
//
// Memory order: as clh. The word is told by a Put, flushed, after everything
// that the holder did.
//
// Cost, away from home: a swap of the tail and one of the predecessor's status to
// acquire, one of the own status to release, where either node is near by chance
// only, and a Put to the successor if there is one. In shared memory a look at the
// status comes first: a lock that is free costs two swaps.
type clhNUMA struct {
	clh
	wait word // the rank's own
}

// The words of CLH-NUMA at each rank.
const (
	clhNUMAStatus = iota
	clhNUMAWait
	clhNUMARank
)

func newCLHNUMA(s *seat) inner {
	return apart(clhNUMA{clh: newCLHQueue(s), wait: s.at(s.rank, clhNUMAWait)})
}

func wordsOfCLHNUMA(*topology.Tree, Options) Words {
	return Words{Home: clhHome, Rank: clhNUMARank}
}

// enter implements core.
func (c *clhNUMA) enter(context.Context) (grant uint64, err error) {
	pred := c.lineUp()
	if c.s.direct {
		if status := pred.flag.load(); pred.released(status) {
			return found(status), c.s.decided()
		}
	}
	status := pred.flag.swap(pred.name&clhHigh | uint64(c.s.rank))
	if pred.released(status) {
		return found(status), c.s.decided()
	}
	grant, err = c.wait.await(context.Background(), rma.IsNot(0))
	if err != nil {
		return 0, c.s.fail(err)
	}
	c.wait.clear()
	return grant, nil
}

// leave implements core.
func (c *clhNUMA) leave(grant uint64) {
	own := c.own()
	flag := own.name&clhHigh | grant
	if status := own.flag.swap(flag); own.released(status) {
		wait := c.s.at(Rank(status&clhLow), clhNUMAWait)
		wait.publish(grant)
		c.s.gaveWay()
	}
	c.left(flag)
}
