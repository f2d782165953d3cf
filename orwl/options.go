package orwl

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/orwl/go-orwl/net/topology"
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
