package locks

import "github.com/orwl/go-orwl/net/topology"

// newMCS is, for a rank, the queue lock of Mellor-Crummey and Scott on windows:
// D-MCS of Schmid, Besta and Hoefler, HPDC'16, §2.4, listings 2 and 3, where every
// operation is flushed that the text leaves to chance, and dash::Mutex, which hands
// over by message and tries to empty the queue first (Uffmann 2022, §3.5, §4.3).
// The algorithm is queue; any grant means: go on. aborts says whether a waiter may
// give up.
//
// Invariant: who is first in the queue holds the lock, or is about to notice.
//
// Memory order: the flush of a release completes what the holder did, before the
// swap of the tail or the store of the status lets anybody go on. The flush of
// next in enter is what makes a successor known that the releaser waits for.
//
// Cost, away from home: one swap to acquire, one CAS to release. Behind a
// predecessor one more Put to it, and with a successor one Put to it instead of
// the CAS of the tail (a CAS of its status if it may give up).
func newMCS(aborts bool) func(*seat) inner {
	return func(s *seat) inner {
		q := apart(newQueue(s, s.atHome(0), s.rank, 0, aborts))
		if s.o.HandOver == ByPut && !s.o.CASFirst {
			s.goesAlone(lone{tail: q.tail, present: q.name})
		}
		return q
	}
}

func wordsOfMCS(*topology.Tree, Options) Words { return Words{Home: 1, Rank: nodeWords} }
