package sim

import (
	"context"
	"fmt"
	"time"

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
	// operation has arrived. It is not called after a crash or a split.
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
	// Survive makes windows that go on after a rank has crashed (rma.Survivor).
	Survive bool
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
	case s.Survive && s.Faults.Splits > 0:
		return fmt.Errorf("sim: System.Survive and Faults.Splits: a rank that is cut off lives, and no window goes on without it")
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

// Fabric is the fabric of one run.
type Fabric struct {
	topology *topology.Tree
	memory   memory
	ranks    []*rank
	labels   labels
	driver   driver
	crew     *crew
	steps    int
	shared   bool // System.Shared
	survive  bool // System.Survive
	closed   bool // Close was called; when predicting, reset once the waiting ranks have been woken
}

var (
	_ rma.Exposer = (*Fabric)(nil)
	_ rma.Labeler = (*Fabric)(nil)
)

// driver decides when the request of a rank takes effect.
type driver interface {
	// ask answers r's request now and reports true, or notes it and reports
	// false. After false, r blocks until the request has been answered. ask runs
	// on the rank's own stack.
	ask(r *rank) bool
	// time is r's time: steps when exploring.
	time(r *rank) time.Duration
	// spend lets r compute for a while.
	spend(r *rank, d time.Duration)
	// sharesMemory reports whether r reaches the memory of another rank by instructions, if any rank does.
	sharesMemory(r *rank, target rma.Rank) bool
	// handedOver and returns are the methods of rma.Considerate.
	handedOver(r *rank)
	returns(r *rank, turns int) (again int)
}

func newFabric(s System) *Fabric {
	f := &Fabric{topology: s.Topology, memory: newMemory(s.Topology.Ranks(), s.Words, s.crew), shared: s.Shared, survive: s.Survive, crew: s.crew}
	f.ranks = make([]*rank, s.Topology.Ranks())
	all := make([]rank, len(f.ranks))
	windows := make([]Window, len(f.ranks))
	for p := range f.ranks {
		r := &all[p]
		r.id, r.window = rma.Rank(p), &windows[p]
		r.ctx, r.cancel = context.Background(), func() {}
		*r.window = Window{rank: r, fabric: f, epoch: new(rma.Epoch)}
		f.ranks[p] = r
	}
	return f
}

// begin runs the system's setup and makes every rank ready to run.
func (f *Fabric) begin(s System) (Program, error) {
	program, err := s.Setup(f)
	if err != nil {
		return program, fmt.Errorf("sim: setup: %w", err)
	}
	if program.Rank == nil {
		return program, fmt.Errorf("sim: setup returned a program without Rank")
	}
	for _, r := range f.ranks {
		r.body, r.player = program.Rank, f.crew.hire(r)
	}
	return program, nil
}

// end unwinds every body that still runs.
func (f *Fabric) end() {
	for _, r := range f.ranks {
		r.halt(f.crew)
		r.cancel()
	}
}

// Topology implements rma.Fabric.
func (f *Fabric) Topology() *topology.Tree { return f.topology }

// Alloc implements rma.Fabric.
func (f *Fabric) Alloc(words int) (rma.Disp, error) { return f.memory.alloc(words) }

// Window implements rma.Fabric.
func (f *Fabric) Window(p rma.Rank) (rma.Window, error) {
	if p < 0 || int(p) >= len(f.ranks) {
		return nil, &rma.RankError{Rank: p, Ranks: len(f.ranks), Why: "ranks count from 0"}
	}
	return f.ranks[p].view(), nil
}

// Expose implements rma.Exposer.
func (f *Fabric) Expose(p rma.Rank, words []uint64) (rma.Disp, error) {
	if _, err := f.Window(p); err != nil {
		return 0, err
	}
	if len(words) == 0 {
		return 0, &rma.AllocError{Why: rma.ErrNoSpace, Hint: "an exposed slice has at least one word"}
	}
	return f.memory.attach(p, words), nil
}

// Label implements rma.Labeler.
func (f *Fabric) Label(disp rma.Disp, words int, name string) { f.labels.add(disp, words, name) }

// Close implements rma.Fabric.
func (f *Fabric) Close() error {
	f.closed = true
	for _, r := range f.ranks {
		r.window.fail(rma.ErrClosed)
	}
	return nil
}
