package locks

import (
	"strings"

	"github.com/orwl/go-orwl/net/rma"
)

// nested is a whole lock inside another one: a lock of the family that the other one is made
// of, whichever it is.
type nested struct {
	Mutex
	lock *Lock
}

// newNested is the rank's side of a lock of that spec, whose words begin at base.
func newNested(outer *Lock, s Spec, base base, w rma.Window) nested {
	o := nestedOptions(outer.o)
	o.Operations = o.Operations || s.Operations
	l := &Lock{spec: s, o: o.withDefaults(o.Name, outer.tree), tree: outer.tree, base: base, number: 1}
	return nested{s.at(l, w), l}
}

// nestedOptions are those that a lock hands on to the locks that it is made of.
func nestedOptions(o Options) Options {
	return Options{Name: o.Name, Home: o.Home, Operations: o.Operations}
}

// acquire acquires the lock, and reports whether the rank found a predecessor. The rank does
// not give up: a lock whose waiters give up may know of one that has gone.
func (n nested) acquire() (waited bool, err error) {
	before := n.counted()
	err = n.Acquire(forever())
	return n.counted() > before, err
}

// counted is how often the rank has found a predecessor.
func (n nested) counted() uint64 {
	c := n.Mutex.(Counter).Counts()
	return c.Waited + c.UpperWaited
}

// tryAcquire takes the lock if it is free.
func (n nested) tryAcquire() bool { return n.Mutex.(Tryer).TryAcquire() }

// alone reports whether the holder knows of no waiter.
func (n nested) alone() bool { return n.Mutex.(Cohort).Alone() }

// knowsWaiters reports whether the lock's sides are a Cohort.
func (s Spec) knowsWaiters() bool {
	switch s.Name {
	case "TAS", "TTS", "TKT-A", "foMPI-Spin", "SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS", "Fissile":
		return false
	}
	return s.Kind == Exclusive
}

// costOfAlone is what Alone takes of the network: where no rank waits, and where a neighbour
// does. A cohort lock asks its local lock, whose name comes last.
func (s Spec) costOfAlone() (none, one Operations) {
	look := Operations{Gets: 1}
	switch local := s.Name[strings.LastIndex(s.Name, "-")+1:]; {
	case s.Name == "HMCS", s.Name == "RMA-MCS":
		return look, Operations{} // each level but the finest is at another rank
	case local == "TKT":
		return look.plus(look), look.plus(look)
	case local == "TTS", local == "RH", strings.Contains(s.Name, "CLH"), strings.Contains(s.Name, "HEM"):
		return look, look
	}
	return Operations{}, Operations{}
}
