package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

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
	// handedOver and returns are the methods of rma.Considerate.
	handedOver(r *rank)
	returns(r *rank, turns int) (again int)
}

func newFabric(s System) *Fabric {
	f := &Fabric{topology: s.Topology, memory: newMemory(s.Topology.Ranks(), s.Words, s.crew), shared: s.Shared, crew: s.crew}
	f.ranks = make([]*rank, s.Topology.Ranks())
	all := make([]rank, len(f.ranks))
	windows := make([]Window, len(f.ranks))
	for p := range f.ranks {
		r := &all[p]
		r.id, r.window = rma.Rank(p), &windows[p]
		r.ctx, r.cancel = context.Background(), func() {}
		*r.window = Window{rank: r, fabric: f}
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
	return f.ranks[p].window, nil
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
