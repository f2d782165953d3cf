package orwl

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/internal/workers"
	"github.com/orwl/go-orwl/resource"
)

// seats say how many workers this node has, and on which CPUs they run.
type seats struct {
	workers int
	cpus    *topology.Tree // one rank for each worker; nil if workers are not pinned
}

// machine is the machine of this node.
func (o Options) machine() *topology.Tree {
	if o.Tree != nil {
		return o.Tree
	}
	return machine()
}

// checkPins refuses to pin workers where the CPUs have no numbers.
func (o Options) checkPins() error {
	if !o.PinWorkers {
		return nil
	}
	if _, ok := o.machine().CPU(0); !ok {
		return fmt.Errorf("orwl: Options.PinWorkers: %w", host.ErrNoCPU)
	}
	return nil
}

// seat gives each step task of this node its home worker. In a run of several nodes, and
// where workers are pinned, step tasks that share much get the same worker or workers that
// are near each other. Otherwise they are dealt by index: neighbours in the program mostly
// share much, and unpinned workers of one node have no place.
func (rt *Runtime) seat() (err error) {
	rt.seats, err = rt.seatsFor(rt.tasks)
	return err
}

// seatsFor seats the step tasks among tasks.
func (rt *Runtime) seatsFor(tasks []*Task) (s seats, err error) {
	var steps []*Task
	for _, t := range tasks {
		if t.step != nil && t.here() {
			steps = append(steps, t)
		}
	}
	if len(steps) == 0 {
		return s, nil
	}
	if rt.Nodes() > 1 {
		rank(steps, crossing(tasks))
	}
	s.workers = min(processors(), len(steps))
	if rt.Nodes() == 1 && !rt.o.PinWorkers {
		take(steps, spread.SeatsByIndex(len(steps), s.workers))
		return s, nil
	}
	tree := rt.o.machine()
	if rt.o.PinWorkers {
		s.workers = min(s.workers, tree.Ranks())
	}
	if tree, err = tree.Spread(s.workers); err != nil {
		return s, fmt.Errorf("orwl: workers: %w", err)
	}
	if rt.o.PinWorkers {
		s.cpus = tree
	}
	at, err := rt.programOf(steps, nil, nil).Seats(tree)
	if err == nil {
		take(steps, at)
	}
	return s, err
}

// crossing is the resources that tasks of several nodes share.
func crossing(tasks []*Task) map[*resource.Resource]bool {
	on := make(map[*resource.Resource]int)
	several := make(map[*resource.Resource]bool)
	for _, t := range tasks {
		for _, a := range t.accesses {
			if n, known := on[a.resource]; known && n != t.on {
				several[a.resource] = true
			}
			on[a.resource] = t.on
		}
	}
	return several
}

// rank ranks steps by how near their tasks are to another node. Those that share a resource of
// near are nearest, and the next ones share a resource with these. What another node waits for
// then does not wait for steps that only this node needs.
func rank(steps []*Task, near map[*resource.Resource]bool) {
	for r := workers.Ranks - 1; r > workers.Plain; r-- {
		var ranked []*Task
		for _, t := range steps {
			if t.step.rank == workers.Plain && slices.ContainsFunc(t.accesses, func(a *Access) bool { return near[a.resource] }) {
				t.step.rank = r
				ranked = append(ranked, t)
			}
		}
		for _, t := range ranked {
			for _, a := range t.accesses {
				near[a.resource] = true
			}
		}
	}
}

// take gives step tasks their seats.
func take(steps []*Task, seats []int) {
	for i, t := range steps {
		t.step.seat = int16(seats[i])
	}
}

// pin binds the worker to its CPU if the pool has CPUs. The worker calls unpin at its end.
func (w *worker) pin() (unpin func(), err error) {
	if w.pool.cpus == nil {
		return func() {}, nil
	}
	if unpin, err = host.Pin(w.pool.cpus, topology.Rank(w.Number())); err != nil {
		return nil, pinError(w.Number(), err)
	}
	return unpin, nil
}

func pinError(worker int, err error) error {
	return fmt.Errorf("orwl: Options.PinWorkers: worker %d: %w", worker, err)
}
