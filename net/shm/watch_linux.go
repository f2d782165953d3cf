package shm

import (
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

const (
	// watchPeriod is how often a process looks after others. A death is found
	// within one period and known to all within two, unless the machine is too
	// busy to run the watch.
	watchPeriod = 100 * time.Millisecond

	// watched is how many other processes each one looks after. One is not enough,
	// since a process that is stopped looks after none.
	watched = 4
)

// watch finds processes that died, until the fabric is closed.
//
// The processes form a ring, in the order of their lowest ranks, and each looks after
// the next few in it, so that the work per process does not grow with their number. A
// process writes each loss that it finds into the claims, where all see it.
func (f *Fabric) watch() {
	defer close(f.watched)
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	var ring []process
	told := false
	for {
		select {
		case <-f.quit:
			return
		case <-ticker.C:
		}
		ring = f.ring(ring[:0])
		f.lookAfter(ring)
		if p := f.header.lost.Load(); p != 0 && f.survive {
			f.mourn()
		} else if p != 0 {
			loss := f.loss(rma.Rank(p - 1))
			if !told {
				told = true
				f.told(loss)
			}
			f.Fail(loss)
		}
	}
}

// process is a process that has ranks.
type process struct {
	owner uint64
	first rma.Rank // its lowest rank
}

// ring is all processes that have ranks here, by the lowest of these.
func (f *Fabric) ring(ring []process) []process {
	for p := range f.claims {
		owner := f.claims[p].owner.Load()
		if owner == 0 || f.claims[p].state.Load() != alive || !f.here(rma.Rank(p)) {
			continue
		}
		if !slices.ContainsFunc(ring, func(q process) bool { return q.owner == owner }) {
			ring = append(ring, process{owner, rma.Rank(p)})
		}
	}
	return ring
}

// lookAfter checks the processes that come next in the ring. A dead process is no
// neighbour, so it does not count.
func (f *Fabric) lookAfter(ring []process) {
	here := slices.IndexFunc(ring, func(q process) bool { return q.owner == f.me })
	for i, found := 1, 0; i <= len(ring) && found < watched; i++ {
		next := ring[(here+i)%len(ring)]
		if next.owner == f.me {
			continue
		}
		if f.lives(next) {
			found++
		} else {
			f.bury(next)
		}
	}
}

// lives reports whether a process is still there, or has left as it should.
func (f *Fabric) lives(q process) bool {
	return f.locks.held(q.first) || f.claims[q.first].state.Load() != alive
}

// bury records that a process is lost.
func (f *Fabric) bury(q process) {
	for p := range f.claims {
		if f.claims[p].owner.Load() == q.owner {
			f.claims[p].state.CompareAndSwap(alive, lost)
		}
	}
	f.header.lost.CompareAndSwap(0, uint64(q.first)+1)
}

// loss is the failure of this process's windows after the loss of rank p.
func (f *Fabric) loss(p rma.Rank) *rma.PeerLostError {
	return &rma.PeerLostError{Rank: p, Why: fmt.Sprintf(
		"process %d, which had it, ended without closing the fabric: look at its output, then start all processes anew",
		pid(f.claims[p].owner.Load()))}
}
