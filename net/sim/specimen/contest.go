package specimen

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Contest describes ranks that acquire a lock again and again and check its promises:
// no rank is inside together with a writer, and every rank inside sees the last
// writer's data.
type Contest struct {
	Topology *topology.Tree
	// Acquisitions is how often each rank acquires.
	Acquisitions int
	// Writers is how many ranks write: in their first acquisition, their third
	// and so on. All other acquisitions read, if the lock is an RWLock.
	Writers int
	// Faults are the faults of each run.
	Faults sim.Faults
}

// System is the contest with a specimen, as a system.
func (c Contest) System(s Specimen) sim.System {
	return sim.System{
		Topology: c.Topology,
		Faults:   c.Faults,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			body, err := c.body(f, s)
			return sim.Program{Rank: body}, err
		},
	}
}

// body allocates a lock and the data that it protects. It returns the body of each
// rank.
func (c Contest) body(f rma.Fabric, s Specimen) (func(context.Context, rma.Window) error, error) {
	at, err := s.New(f)
	if err != nil {
		return nil, err
	}
	data, err := f.Alloc(1)
	if err != nil {
		return nil, err
	}
	rma.Label(f, data, 1, "data")
	home := rma.Rank(c.Topology.Ranks() - 1)
	var inside occupancy
	written := uint64(0)
	return func(ctx context.Context, w rma.Window) error {
		lock := at(w)
		for i := range c.Acquisitions {
			rw, _ := lock.(RWLock)
			write := rw == nil || int(w.Rank()) < c.Writers && i%2 == 0
			if err := acquire(ctx, lock, write); err != nil {
				return err
			}
			if err := inside.enter(w.Rank(), write); err != nil {
				return err
			}
			seen := w.Get(home, data)
			if w.Err() != nil {
				return w.Err()
			}
			if seen != written {
				return fmt.Errorf("stale data: rank %d holds the lock and sees write %d, but write %d was made under it",
					w.Rank(), seen, written)
			}
			if write {
				written++
				w.Put(home, data, written)
			}
			inside.leave(write)
			release(lock, write)
		}
		return nil
	}, nil
}

func acquire(ctx context.Context, l Lock, write bool) error {
	if rw, ok := l.(RWLock); ok && !write {
		return rw.AcquireRead(ctx)
	}
	return l.Acquire(ctx)
}

func release(l Lock, write bool) {
	if rw, ok := l.(RWLock); ok && !write {
		rw.ReleaseRead()
		return
	}
	l.Release()
}

// occupancy counts the ranks inside. The simulator runs one rank at a time, so plain
// variables are enough.
type occupancy struct {
	readers int
	writer  rma.Rank
	writing bool
}

func (o *occupancy) enter(p rma.Rank, write bool) error {
	switch {
	case o.writing:
		return fmt.Errorf("exclusion broken: rank %d enters while rank %d writes", p, o.writer)
	case write && o.readers > 0:
		return fmt.Errorf("exclusion broken: rank %d enters to write beside %d readers", p, o.readers)
	case write:
		o.writing, o.writer = true, p
	default:
		o.readers++
	}
	return nil
}

func (o *occupancy) leave(write bool) {
	if write {
		o.writing = false
	} else {
		o.readers--
	}
}
