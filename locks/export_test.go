package locks

import "github.com/orwl/go-orwl/net/rma"

// Nervous makes RMA-RW-A change its spread nearly every epoch: one reader at most votes for the
// next one, and two for the one before. T_R may become one.
func Nervous(s Spec) Spec {
	at := s.at
	s.at = func(lock *Lock, w rma.Window) Mutex {
		m := at(lock, w)
		l := m.(*rmaRWA)
		for k := 1; k < len(l.strides); k++ {
			l.few[k-1], l.many[k] = 1, 2
		}
		l.o.Hysteresis, l.leastTR = 1, 1
		return m
	}
	return s
}

// CSTNode lets a rank come for the first time, and returns the rank that has its element's node.
func CSTNode(m Mutex) Rank { return m.(*cst).find() }

// CSTList are the ranks that have the nodes in the list of a CST.
func CSTList(m Mutex) (nodes []Rank) {
	l := m.(*cst)
	for name := l.atHome(cstFirst); name.Load() != 0; name = l.at(nodes[len(nodes)-1], cstNext) {
		nodes = append(nodes, Rank(name.Load()-1))
	}
	return nodes
}

// RaiseBarrier raises the barrier of a C-RW lock, as a reader of C-RW-WP does.
func RaiseBarrier(m Mutex) { m.(*crw).barrier.accumulate(1) }
