package orwl

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// seats say how many workers this node has, and on which CPUs they run.
type seats struct {
	workers int
	bound   []int          // the CPUs of this node, if other nodes have the others
	alone   bool           // no other node has the CPUs of bound
	cpus    *topology.Tree // one rank for each worker; nil if workers are not pinned
}

// machine is the machine of this node.
func (o Options) machine() *topology.Tree {
	if o.tree != nil {
		return o.tree
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

// seat gives each step task of this node its home worker. Step tasks that share much get the same worker
// or workers that are near each other. Tasks that share often wait for each other, so tasks of
// different workers may mostly run at the same time.
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
		markNear(steps, crossing(tasks))
	}
	s.workers = min(processors(), len(steps))
	tree := rt.o.machine()
	if rt.o.PinWorkers {
		s.workers = min(s.workers, tree.Ranks())
	} else if s.bound, s.alone = rt.o.Nodes.share(); s.bound != nil {
		s.workers = min(s.workers, len(s.bound))
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
func crossing(tasks []*Task) map[*declared]bool {
	on, several := make(map[*declared]int), make(map[*declared]bool)
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

// reach is how far from another node a step is urgent.
const reach = 2

// markNear marks the steps that share a resource of near with tasks of another node, and the steps that share a resource
// with these. So a step that another node waits for does not wait for steps that only this node needs.
func markNear(steps []*Task, near map[*declared]bool) {
	for range reach {
		var marked []*Task
		for _, t := range steps {
			if !t.step.near && slices.ContainsFunc(t.accesses, func(a *Access) bool { return near[a.resource] }) {
				t.step.near = true
				marked = append(marked, t)
			}
		}
		for _, t := range marked {
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

func pinError(worker int, err error) error {
	return fmt.Errorf("orwl: Options.PinWorkers: worker %d: %w", worker, err)
}

// A worker that has steps keeps its processor of the Go scheduler. If workers keep all of them, a message
// waits until the scheduler's monitor looks at the network, every 10 ms. So there is one processor more, the
// spare one, while the workers of a run with several nodes run. The operating system gives its thread a CPU
// as soon as a message comes.
//
// Nodes of one machine divide its CPUs among them for that time. Otherwise each has as many workers as there are CPUs, and
// Linux may leave workers of two nodes on one CPU for milliseconds while another one is idle.
var spare struct {
	mu     sync.Mutex
	uses   int    // by runs of this process
	before int    // GOMAXPROCS without
	with   int    // GOMAXPROCS with the spare one
	unbind func() // nil if the process is not bound
}

// takeSpare makes the spare processor, and binds the process to CPUs if there are some, until giveSpare is called as often.
func takeSpare(cpus []int) error {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if spare.uses++; spare.uses > 1 {
		return nil
	}
	spare.before = runtime.GOMAXPROCS(0)
	n, err := spare.before, error(nil)
	if len(cpus) > 0 {
		if spare.unbind, err = host.Bind(cpus); err == nil {
			n = min(n, len(cpus))
		}
	}
	spare.with = n + 1
	runtime.GOMAXPROCS(spare.with)
	return err
}

// giveSpare ends takeSpare. It leaves a GOMAXPROCS that the program has changed meanwhile. Go follows the limits
// of a container again if it did before: the number is the default one then.
func giveSpare() {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if spare.uses--; spare.uses > 0 {
		return
	}
	if spare.unbind != nil {
		spare.unbind()
		spare.unbind = nil
	}
	if runtime.GOMAXPROCS(0) != spare.with {
		return
	}
	runtime.SetDefaultGOMAXPROCS()
	if runtime.GOMAXPROCS(0) != spare.before {
		runtime.GOMAXPROCS(spare.before)
	}
}

// processors is GOMAXPROCS without the spare processor.
func processors() int {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	n := runtime.GOMAXPROCS(0)
	if spare.uses > 0 && n == spare.with {
		n--
	}
	return n
}
