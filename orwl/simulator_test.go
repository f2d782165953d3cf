package orwl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// stage is where the simulator plays a plan: its tasks are the ranks, and run as
// Run would run them, with two differences: they sleep in beds made of window operations,
// and others may run wherever a body touches a word.
type stage struct {
	*randomProgram
	t     testing.TB
	rt    *Runtime
	run   *run
	seen  [][]uint64
	at    *sim.Window       // of the rank that runs
	ctx   []context.Context // of each rank
	leave bool              // bodies use the ranks' contexts, and end well when those end
	check func() error
}

// do is an operation of the rank that runs: before it returns, others may have.
func (s *stage) do(op func(w *sim.Window)) {
	w := s.at
	op(w)
	s.at = w
}

// between lets another rank go first.
func (s *stage) between() {
	s.do(func(w *sim.Window) { w.FetchOp(w.Rank(), 0, rma.NoOp, 0) })
}

// berth is a bed: a word of its owner's that is 1 when it is to wake up.
type berth struct {
	s      *stage
	owner  rma.Rank
	disp   rma.Disp
	parked func()
}

func (b *berth) Init(parked func()) { b.parked = parked }

func (b *berth) ParkUntil(ctx context.Context, interrupt func()) {
	b.parked()
	b.s.do(func(w *sim.Window) {
		if _, err := w.Await(ctx, b.owner, b.disp, rma.Is(1)); err == nil || ctx.Err() == nil {
			return
		}
		b.s.at = w
		interrupt()
		_, _ = w.Await(context.Background(), b.owner, b.disp, rma.Is(1))
	})
	b.s.do(func(w *sim.Window) { w.FetchOp(b.owner, b.disp, rma.Replace, 0) })
}

func (b *berth) Unpark() {
	b.s.do(func(w *sim.Window) { w.FetchOp(b.owner, b.disp, rma.Replace, 1) })
}

// setup is the beginning of a run.
func (s *stage) setup(f *sim.Fabric) (sim.Program, error) {
	if _, err := f.Alloc(1 + 8); err != nil {
		return sim.Program{}, err
	}
	n := len(s.tasks)
	s.seen, s.ctx = make([][]uint64, n), make([]context.Context, n)
	s.rt = s.declare(s.t, Options{}, func(i int) func(*Task) error {
		body := s.body(i, &s.seen[i], s.between, func(t *Task) context.Context {
			if s.leave {
				return s.ctx[i]
			}
			return t.Context()
		})
		return func(t *Task) error {
			err := body(t)
			if s.leave && errors.Is(err, context.Canceled) && s.ctx[i].Err() != nil {
				return nil
			}
			return err
		}
	})
	s.run = new(run)
	s.run.ctx, s.run.end = context.WithCancelCause(context.Background())
	if err := s.rt.start(s.run); err != nil {
		return sim.Program{}, err
	}
	for _, h := range s.run.planned.holds {
		if err := h.Take(s.run.ctx); err != nil {
			return sim.Program{}, err
		}
	}
	for i, task := range s.rt.tasks {
		for j, a := range task.accesses {
			s.run.planned.pool.Sleep(a.counter(), &berth{s: s, owner: rma.Rank(i), disp: rma.Disp(1 + j)}) // at most one of them sleeps
		}
	}
	return sim.Program{Rank: s.rank, Check: func() error {
		s.run.planned.give()
		return s.check()
	}}, nil
}

func (s *stage) rank(ctx context.Context, w rma.Window) error {
	s.at = w.(*sim.Window)
	s.ctx[w.Rank()] = ctx
	task := s.rt.tasks[w.Rank()]
	task.gather()
	task.live()
	return nil
}

func (s *stage) play(seed uint64, runs int, faults sim.Faults) sim.Report {
	for i := range s.tasks {
		if s.tasks[i].style == byStep {
			s.tasks[i].style = byBreak // every task is a rank here
		}
	}
	system := sim.System{Topology: topology.Flat(len(s.tasks)), Setup: s.setup, Faults: faults, MaxSteps: 1 << 18}
	return system.Seeds(seed, runs)
}

// drawSmall is a plan that lives, with few rounds.
func drawSmall(seed uint64) *randomProgram {
	for ; ; seed += 1 << 32 {
		p := drawPlan(seed)
		for i := range p.tasks {
			p.tasks[i].rounds = min(p.tasks[i].rounds, 4)
		}
		if len(p.order()) == len(p.tasks) {
			return p
		}
	}
}

// Under every schedule of the simulator, a plan computes what the sequential one
// does.
func TestSimulatedEquivalence(t *testing.T) {
	rings.Computes(t)
	steps := 0
	for seed := range plans(t, 2) {
		p := drawSmall(seed)
		want := p.sequential()
		s := &stage{randomProgram: p, t: t}
		s.check = func() error {
			if s.run.failed.Load() {
				return context.Cause(s.run.ctx)
			}
			checkIdle(t, s.rt)
			if got := p.result(t, s.rt, s.seen); !reflect.DeepEqual(got, want) {
				return fmt.Errorf("%v, want %v", got, want)
			}
			return nil
		}
		report := s.play(seed, 4, sim.Faults{Pauses: int(seed % 3)})
		if steps += report.Steps; report.Failure != nil || t.Failed() {
			t.Fatalf("%v\nin %v", report.Err(), p)
		}
	}
	t.Logf("%d steps", steps)
}

// When tasks leave because contexts of their own have ended, the others go on, and
// compute what they would if those had had fewer rounds from the beginning.
func TestSimulatedLeaving(t *testing.T) {
	rings.Computes(t)
	left := 0
	for seed := range plans(t, 2) {
		p := drawSmall(seed)
		for i := range p.tasks {
			p.tasks[i].style = byHand + style(seed+uint64(i))%2
		}
		s := &stage{randomProgram: p, t: t, leave: true}
		s.check = func() error {
			if s.run.failed.Load() {
				return context.Cause(s.run.ctx)
			}
			checkIdle(t, s.rt)
			fewer := *p
			fewer.tasks = slices.Clone(p.tasks)
			for i, seen := range s.seen {
				if len(seen) < p.tasks[i].rounds {
					left++
				}
				fewer.tasks[i].rounds = len(seen)
			}
			if got, want := p.result(t, s.rt, s.seen), fewer.sequential(); !reflect.DeepEqual(got, want) {
				return fmt.Errorf("%v, want %v", got, want)
			}
			return nil
		}
		if report := s.play(seed, 4, sim.Faults{Cancels: 1 + int(seed%3)}); report.Failure != nil || t.Failed() {
			t.Fatalf("%v\nin %v", report.Err(), p)
		}
	}
	if left == 0 {
		t.Error("nobody has left early")
	}
	t.Logf("%d tasks left early", left)
}

// When a task fails, all end, and no round that was done differs from the
// sequential program's.
func TestSimulatedFailure(t *testing.T) {
	rings.Computes(t)
	for seed := range plans(t, 2) {
		p := drawSmall(seed)
		want := p.sequential()
		culprit := int(mix(seed) % uint64(len(p.tasks)))
		p.tasks[culprit].end = fails + ending(seed%2)
		p.cut(culprit)
		s := &stage{randomProgram: p, t: t}
		s.check = func() error {
			checkFailed(t, p, context.Cause(s.run.ctx), culprit)
			checkIdle(t, s.rt)
			for i, seen := range s.seen {
				if n := len(seen); n > len(want.seen[i]) || !slices.Equal(seen, want.seen[i][:n]) {
					return fmt.Errorf("task %d: %v, want the beginning of %v", i, seen, want.seen[i])
				}
			}
			return nil
		}
		if report := s.play(seed, 4, sim.Faults{Pauses: 1}); report.Failure != nil || t.Failed() {
			t.Fatalf("%v\nin %v", report.Err(), p)
		}
	}
}
