package printed

import (
	"github.com/orwl/go-orwl/net/rma"
)

// dmcs is D-MCS-Acc: D-MCS (Schmid, Besta and Hoefler, HPDC'16, §2.4) as the authors' program
// has it, which makes itself known and hands over by Accumulate and not by Put. It is the
// middle step of a ladder (Uffmann 2022, §4.3.1):
//
//   - Accumulate, not flushed: the program. Nothing says that the operation ever arrives. The
//     explorer finds ranks that wait for ever: specimen d-mcs-unflushed.
//
//   - Accumulate, flushed: this lock.
//
//   - Put, flushed: D-MCS, in package locks. No other rank writes the word at the same time, so
//     an atomic operation buys nothing.
//
//     tail ───────────────────────────▶ last
//     holder ─next─▶ waiter ─next─▶ waiter
//     waits 1        waits 1
//
// Ranks are stored as rank+1, so that zeroed memory is an empty queue.
//
// Line numbers refer to listings 2 (enter) and 3 (leave).
type dmcs struct {
	*side
	words
	me   rma.Rank
	name uint64
}

// The words of a node.
const (
	nodeNext = iota
	nodeWaits
)

func newDMCS(s *side, at words) algorithm {
	return &dmcs{s, at, s.w.Rank(), uint64(s.w.Rank()) + 1}
}

func (l *dmcs) enter() (waited bool, err error) {
	l.put(l.me, l.rank+nodeNext, 0)
	l.put(l.me, l.rank+nodeWaits, 1)                         // l. 2-4
	pred := l.w.FetchOp(l.home, l.tail, rma.Replace, l.name) // l. 5-7
	if pred == 0 {                                           // l. 8
		return false, nil
	}
	l.replace(rma.Rank(pred-1), l.rank+nodeNext, l.name) // l. 9-10
	_, err = l.await(l.me, l.rank+nodeWaits, rma.Is(0))  // l. 11-14
	return true, err
}

func (l *dmcs) tryEnter() bool {
	l.put(l.me, l.rank+nodeNext, 0)
	return l.w.CAS(l.home, l.tail, 0, l.name) == 0
}

func (l *dmcs) leave() {
	succ := l.w.Get(l.me, l.rank+nodeNext) // l. 2
	if succ == 0 {                         // l. 3
		if l.w.CAS(l.home, l.tail, l.name, 0) == l.name { // l. 5-8
			return
		}
		var err error
		if succ, err = l.await(l.me, l.rank+nodeNext, rma.IsNot(0)); err != nil { // l. 9-11
			return
		}
	}
	l.replace(rma.Rank(succ-1), l.rank+nodeWaits, 0) // l. 13-14
	l.handedOver()
}
