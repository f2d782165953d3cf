package printed

import "github.com/orwl/go-orwl/net/rma"

// clh is CLH-printed and CLH-NUMA-printed: CLH as Uffmann has it (2022, §5.3.1 and §5.3.2), from Craig and from Landin and
// Hagersten.
//
//	tail ───────────────────────────▶ node of the last
//	node of the holder ◀─looks at─ waiter ◀─looks at─ waiter
//
// A rank marks its node, lines it up, and looks at the node before it. When it leaves, it clears its node and takes the
// other one. So a node may lie at any rank. In the variant for NUMA a waiter leaves its rank in the node before it, and
// waits at a word of its own.
//
// CLH and CLH-NUMA of package locks have turns in place of the mark: a rank need not reach its node before it lines it up.
//
// No rank knows whether another one waits, so CLH-printed reports no hand-over to the window.
//
// A try that finds the tail as it was takes it. If the node there has left the queue and come back meanwhile, the try waits.
//
// Line numbers refer to Abbildung 5.1 and 5.2.
type clh struct {
	*side
	words
	numa        bool
	mine, watch uint64 // numbers of nodes: rank+1, or 0 for the one that lies at home
}

// The words of CLH: a node, and the word at which its rank waits for NUMA.
const (
	clhNode   = iota
	clhLocked // CLH-NUMA
)

// The values of a node. Any other is a waiter.
const (
	clhGranted = iota
	clhPending
	clhWaiter // and the rank
)

func newCLH(numa bool) func(*side, words) algorithm {
	return func(s *side, at words) algorithm {
		return &clh{side: s, words: at, numa: numa, mine: uint64(s.w.Rank()) + 1}
	}
}

// node is where a node lies.
func (l *clh) node(number uint64) (rma.Rank, rma.Disp) {
	if number == 0 {
		return l.home, l.tail + 1
	}
	return rma.Rank(number - 1), l.rank + clhNode
}

// mark says that the own node is in the queue: l. 2, for NUMA l. 1-2.
func (l *clh) mark() {
	at, disp := l.node(l.mine)
	l.put(at, disp, clhPending)
	if l.numa {
		l.put(l.w.Rank(), l.rank+clhLocked, 1)
	}
}

func (l *clh) enter() (waited bool, err error) {
	l.mark()
	l.watch = l.w.FetchOp(l.home, l.tail, rma.Replace, l.mine) // l. 3
	return l.follow()
}

// follow waits for the node before: l. 4, for NUMA l. 4-7.
func (l *clh) follow() (waited bool, err error) {
	at, disp := l.node(l.watch)
	if l.numa {
		if l.w.FetchOp(at, disp, rma.Replace, clhWaiter+uint64(l.w.Rank())) != clhPending {
			return false, nil
		}
		at, disp = l.w.Rank(), l.rank+clhLocked
	} else if l.w.Get(at, disp) != clhPending {
		return false, nil
	}
	_, err = l.await(at, disp, rma.Is(0))
	return true, err
}

func (l *clh) tryEnter() bool {
	last := l.w.Get(l.home, l.tail)
	if at, disp := l.node(last); l.w.Get(at, disp) != clhGranted {
		return false
	}
	l.mark()
	if l.w.CAS(l.home, l.tail, last, l.mine) != last {
		return false
	}
	l.watch = last
	_, err := l.follow()
	return err == nil
}

func (l *clh) leave() {
	at, disp := l.node(l.mine)
	if !l.numa {
		l.put(at, disp, clhGranted) // l. 8
	} else if waiter := l.w.FetchOp(at, disp, rma.Replace, clhGranted); waiter >= clhWaiter { // l. 1-5
		l.put(rma.Rank(waiter-clhWaiter), l.rank+clhLocked, 0)
		l.handedOver()
	}
	l.mine = l.watch // l. 9, for NUMA l. 7
}
