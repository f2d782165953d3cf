package sim

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Program is what the ranks of one run execute.
type Program struct {
	// Rank is the body of one rank. Between two operations of its window it runs
	// without interruption. So bodies may share plain variables to check their
	// promises. An error breaks a promise, except for the window's own failure
	// and the end of ctx.
	Rank func(ctx context.Context, w rma.Window) error
	// Check, if not nil, looks at the result after every rank has ended and every
	// operation has arrived. It is not called after a crash.
	Check func() error
	// State, if not nil, is a fingerprint of what the bodies remember together,
	// beyond what each could compute from the values that it has seen. If a check
	// depends on an order of events, put that order here. Otherwise the
	// exhaustive search merges two different states.
	State func() uint64
}

// System describes a program. Each run makes the program on a fresh fabric.
type System struct {
	// Topology has the ranks as its leaves. Required.
	Topology *topology.Tree
	// Setup allocates and returns the program. Required.
	Setup func(f *Fabric) (Program, error)
	// Words is the size of each rank's symmetric memory; DefaultWords if zero.
	Words int
	// Shared says that all ranks share memory: their windows give direct access to
	// every rank's words (rma.Shared), and a waiter needs a wake-up. If it is
	// false, Direct reports false.
	Shared bool
	// Faults are the faults of each run.
	Faults Faults
	// Progress, if not nil, is told after each run what has been explored so far.
	// If it returns false, the exploration ends there.
	Progress func(Report) (goOn bool)
	// MaxSteps ends a run that does not end by itself; DefaultMaxSteps if zero.
	MaxSteps int
	// Command is the command line that runs this system. A failure prints it,
	// with the flag that selects the failing run: -seed or -schedule.
	Command string

	crew *crew // plays the ranks of all runs of an exploration
}

// The defaults of System.
const (
	DefaultWords    = 256
	DefaultMaxSteps = 1 << 20
)

func (s System) withDefaults() System {
	if s.Words == 0 {
		s.Words = DefaultWords
	}
	if s.MaxSteps == 0 {
		s.MaxSteps = DefaultMaxSteps
	}
	return s
}

func (s System) validate() error {
	switch {
	case s.Topology == nil:
		return fmt.Errorf("sim: System.Topology is nil: give the tree of ranks, for instance topology.Flat(2)")
	case s.Setup == nil:
		return fmt.Errorf("sim: System.Setup is nil: give the function that makes the program")
	case s.Words < 0:
		return fmt.Errorf("sim: System.Words is %d, want at least 1", s.Words)
	case s.MaxSteps < 0:
		return fmt.Errorf("sim: System.MaxSteps is %d, want at least 1", s.MaxSteps)
	}
	return s.Faults.validate()
}

// stopped tells Progress what has been explored. It reports whether the exploration
// ends there.
func (s System) stopped(r Report) bool { return s.Progress != nil && !s.Progress(r) }

// Report is the result of exploring a system.
type Report struct {
	Runs   int // schedules that began
	Steps  int // steps of all runs
	States int // distinct states of an exhaustive search
	// Complete says that nothing is left to explore within the bounds.
	Complete bool
	// Failure is the first run that broke a promise, or nil.
	Failure *Failure
}

// Err is the failure as an error, or nil.
func (r Report) Err() error {
	if r.Failure == nil {
		return nil
	}
	return r.Failure
}
