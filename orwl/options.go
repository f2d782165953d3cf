package orwl

import (
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/folder"
)

// Options configure a Runtime. The zero value is a good default.
type Options struct {
	// Stall is how long nothing may move before the runtime reports what the tasks hold
	// and wait for: 10 s by default, never if negative.
	Stall time.Duration
	// Log is the runtime's logger; slog.Default by default.
	Log *slog.Logger
	// PinWorkers binds each worker of step tasks to a CPU of its own, spread over the machine, for
	// as long as it runs. There are no more workers than CPUs. Step tasks that share much
	// start on the same worker or on workers that are near each other.
	//
	// Pin workers if bodies compute for long: their data stays in the caches of one CPU. To
	// wake a pinned worker takes 43 to 99 µs, and to wake another one about 0.5 µs. Tasks
	// with goroutines are never pinned. Two nodes of one machine need different CPUs: give
	// each process its own, for example with taskset. New returns an error that matches
	// host.ErrNoCPU if the CPUs have no numbers, as on systems without affinity. Run
	// ends with a *host.PinError if the kernel refuses.
	PinWorkers bool
	// FaultPages gives all resources fault pages, to find mistakes: a task that uses a
	// view after its release ends with an error, and cannot read
	// what another task writes. Each access that maps bytes costs some system calls.
	FaultPages bool
	// Nodes are the processes of the program, from [Join]; nil is this one alone.
	Nodes *Nodes
	// Join is how [Run] meets the other nodes.
	Join JoinOptions
	// Survive says how the run goes on when a node is lost.
	Survive Survive
	// Observers hear what the runtime and the tasks of this node do.
	Observers []Observer

	// No program sets the fields below.

	onStall func(inspect.State) // gets the state instead of the log, once until something moves again
	tree    *topology.Tree      // the machine of this node, if not the real one: guards stand on it, and workers run on its ranks
	disk    folder.Disk         // where the cuts are, if not in a directory of the system
	ran     func() int64        // for how long this process has computed, if the system does not say it
}

const (
	guardLock    = "RMA-RW" // the reader-writer lock between ordered and relaxed access to each resource
	defaultStall = 10 * time.Second
	leastStall   = 10 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.Stall == 0 {
		o.Stall = defaultStall
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

func (o Options) validate() error {
	if o.Stall >= 0 && o.Stall < leastStall {
		return fmt.Errorf("orwl: Options.Stall is %v: want at least %v, 0 for %v, or less than 0 for never", o.Stall, leastStall, defaultStall)
	}
	return o.checkPins()
}

// seats say how many workers this node has, and on which CPUs they run.
type seats struct {
	workers int
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
var spare struct {
	mu   sync.Mutex
	uses int // by runs of this process
	with int // GOMAXPROCS with the spare one
}

// takeSpare makes the spare processor, until giveSpare is called as often.
func takeSpare() {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if spare.uses++; spare.uses == 1 {
		spare.with = runtime.GOMAXPROCS(0) + 1
		runtime.GOMAXPROCS(spare.with)
	}
}

// giveSpare ends takeSpare. It leaves a GOMAXPROCS that the program has changed meanwhile. Go follows the limits
// of a container again if it did before: the number is the default one then.
func giveSpare() {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if spare.uses--; spare.uses > 0 || runtime.GOMAXPROCS(0) != spare.with {
		return
	}
	runtime.SetDefaultGOMAXPROCS()
	if before := spare.with - 1; runtime.GOMAXPROCS(0) != before {
		runtime.GOMAXPROCS(before)
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
