package printed

import "github.com/orwl/go-orwl/net/rma"

// dash is dash::Mutex-FAO, the lock of the PGAS library DASH as it is (Uffmann 2022, §3.5,
// Abbildung 4.3): the queue of MCS that hands over by a message, and whose releaser tries to empty
// the queue before it looks for a successor.
//
//	tail ───────────────────────────▶ last
//	holder ─next─▶ waiter ─next─▶ waiter
//	               inbox          inbox           counts messages
//
// A rank makes itself known to its predecessor by a FetchOp, whose answer it does not use. A Put is
// enough: dash::Mutex of package locks, the third optimisation of §4.3.2.
type dash struct {
	*side
	words
	me       rma.Rank
	name     uint64
	received uint64 // messages
}

// nodeInbox is the word of a node that counts messages.
const nodeInbox = nodeWaits

func newDash(s *side, at words) algorithm {
	return &dash{side: s, words: at, me: s.w.Rank(), name: uint64(s.w.Rank()) + 1}
}

func (l *dash) enter() (waited bool, err error) {
	pred := l.w.FetchOp(l.home, l.tail, rma.Replace, l.name)
	if pred == 0 {
		return false, nil
	}
	l.w.FetchOp(rma.Rank(pred-1), l.rank+nodeNext, rma.Replace, l.name)
	if _, err := l.await(l.me, l.rank+nodeInbox, rma.IsNot(l.received)); err != nil {
		return true, err
	}
	l.received++
	return true, nil
}

func (l *dash) tryEnter() bool { return l.w.CAS(l.home, l.tail, 0, l.name) == 0 }

func (l *dash) leave() {
	if l.w.CAS(l.home, l.tail, l.name, 0) == l.name {
		return
	}
	succ, err := l.await(l.me, l.rank+nodeNext, rma.IsNot(0))
	if err != nil {
		return
	}
	l.put(l.me, l.rank+nodeNext, 0)
	l.w.Accumulate(rma.Rank(succ-1), l.rank+nodeInbox, rma.Sum, 1)
	l.w.Flush(rma.Rank(succ - 1))
	l.handedOver()
}
