package orwl

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/books"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// A run of step tasks on one node goes by a plan: what the queues would do is known before it starts. The
// run has each resource for itself. A worker finds a step whose conditions are met in its book, has the
// step's accesses hold, calls the body, commits, and publishes the round:
//
//	conditions met ──▶ GrantAll ──▶ body ──▶ EndAll ──▶ publish
//
// Package plan says what the conditions are, and package books who runs what.

// planned is the plan of a run.
type planned struct {
	run     *run
	plan    *plan.Plan
	holds   []*resource.Hold
	of      map[*resource.Resource]*resource.Hold
	pool    *books.Pool
	steps   []*step // by task
	workers []seat
	faults  bool         // a step may use a view too late
	began   atomic.Int64 // when the workers began, in nanoseconds; 0 before
}

// seat is what a worker has of its own.
type seat struct {
	current *step // the step that it runs
	_       [56]byte
}

// plannable reports whether the run goes by a plan: it has step tasks only, is alone, and nothing but its
// tasks uses its resources meanwhile.
func (rt *Runtime) plannable() bool {
	if rt.o.Nodes.many() || len(rt.relaxed) > 0 {
		return false
	}
	for _, t := range rt.tasks {
		if t.step == nil {
			return false
		}
	}
	return true
}

// plan makes the plan of a run, and puts the run into the queues of its resources.
func (rt *Runtime) plan(r *run, s liveness.System, order []liveness.First) error {
	p := &planned{run: r, of: make(map[*resource.Resource]*resource.Hold), faults: rt.pages != nil}
	tasks := make([]plan.Task, len(rt.tasks))
	for i, t := range rt.tasks {
		tasks[i].Rounds = max(t.step.rounds, plan.Open)
		p.steps = append(p.steps, t.step)
		s.Tasks[i].Sequence = nil // a step holds all its accesses at once
	}
	p.plan = plan.New(s, tasks)
	for _, first := range order {
		a := rt.tasks[first.Task].accesses[first.Access]
		if a.task.step.rounds == 0 {
			continue
		}
		rt.prepare(a, first.Access+1)
		if err := p.join(a); err != nil {
			for _, t := range rt.tasks {
				_ = t.Accesses().Cancel()
			}
			p.give()
			return fmt.Errorf("orwl: first request of task %q: %w", a.task.name, err)
		}
	}
	if p.inTurn() {
		for _, s := range p.steps {
			s.seat = 0
		}
		rt.seats.workers = 1
	}
	p.workers = make([]seat, rt.seats.workers)
	owner := make([]int32, len(p.steps))
	for i, s := range p.steps {
		owner[i] = int32(s.seat)
		if s.rounds == 0 {
			owner[i] = -1
		}
	}
	began := time.Now()
	o := books.Options{
		Plan: p.plan, Owner: owner, Books: len(p.workers), Patience: patience,
		Run: p.round, Died: p.died, Now: func() int64 { return int64(time.Since(began)) },
	}
	if len(rt.o.Observers) > 0 {
		o.Waits = p.waits
	}
	p.pool = books.New(o)
	r.planned = p
	return nil
}

// join makes an access one of the run. The first one of a resource puts the run into its queue.
func (p *planned) join(a *Access) error {
	h := p.of[a.resource]
	if h == nil {
		var err error
		if h, err = resource.NewHold(a.resource, p.run); err != nil {
			return err
		}
		p.of[a.resource] = h
		p.holds = append(p.holds, h)
	}
	return a.Place().Join(h, a.mode)
}

// mostInTurn is how many steps inTurn looks at.
const mostInTurn = 1000

// inTurn reports whether no two steps ever run at the same time: all of them wait for each other in one
// circle. One worker then runs them faster than several, which would hand each round over.
func (p *planned) inTurn() bool {
	if len(p.steps) > mostInTurn {
		return false
	}
	ones, n := make([]int64, len(p.steps)), 0
	for i, s := range p.steps {
		if s.rounds != 0 {
			ones[i], n = 1, n+1
		}
	}
	bound, circle := p.plan.Period(ones)
	return n > 1 && len(circle) == n && bound.Rounds == 1
}

// give gives all resources back.
func (p *planned) give() {
	for _, h := range p.holds {
		h.Give()
	}
}

// runPlan runs the steps of a run by its plan.
func (rt *Runtime) runPlan(r *run, all []*step) {
	p := r.planned
	defer p.give()
	for _, s := range all {
		s.task.began()
		if s.rounds == 0 {
			s.end(nil)
		} else {
			s.task.pair()
		}
	}
	defer func() {
		for _, s := range all { // of a run that has ended
			if !s.task.ended.Load() {
				s.end(context.Cause(r.ctx))
			}
		}
	}()
	for _, h := range p.holds {
		if err := h.Take(r.ctx); err != nil {
			if r.ctx.Err() == nil {
				rt.stop(r, err)
			}
			return
		}
	}
	p.began.Store(time.Now().UnixNano())
	stop := context.AfterFunc(r.ctx, p.pool.Stop)
	defer stop()
	var work sync.WaitGroup
	for w := range p.workers {
		work.Go(func() { rt.work(p, w) })
	}
	work.Wait()
}

// patience is how often a worker looks around before it sleeps.
const patience = 2000

// work is a worker. One that cannot be pinned ends the run.
func (rt *Runtime) work(p *planned, worker int) {
	if cpus := p.run.seats.cpus; cpus != nil {
		unpin, err := host.Pin(cpus, topology.Rank(worker))
		if err != nil {
			rt.stop(p.run, pinError(worker, err))
			return
		}
		defer unpin()
	}
	if p.faults {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	}
	p.pool.Work(worker)
}

// round runs a round of a step whose conditions are met.
func (p *planned) round(worker, task int, _ uint32) books.Outcome {
	s := p.steps[task]
	p.workers[worker].current = s
	last, err := s.planned(p.run)
	if err == nil && !last {
		return books.Goes
	}
	s.end(err)
	if err != nil {
		return books.Fails
	}
	return books.Ends
}

// planned runs a round of the step, and reports whether it was the last one.
func (s *step) planned(r *run) (last bool, err error) {
	// A failing task ends the run, and publishes nothing. So this step knows now if the run has ended.
	if r.ctx.Err() != nil {
		return false, context.Cause(r.ctx)
	}
	t := s.task
	if err := t.pairs.Begin(); err != nil {
		return false, err
	}
	if err := s.body(s.round); err != nil {
		return false, err
	}
	s.round++
	s.waits = false
	t.round.Inc()
	last = s.round == s.rounds
	t.pairs.End(last)
	return last, nil
}

// died ends the step that has panicked with a value, or ended its goroutine.
func (p *planned) died(worker int, value any) {
	s, err := p.workers[worker].current, error(ErrExit)
	if value != nil {
		err = s.task.died(value)
	}
	s.end(err)
}

// waits tells the observers of a step that it waits, once in a round, and for which access first.
func (p *planned) waits(task, other int) {
	s := p.steps[task]
	if s.waits {
		return
	}
	s.waits = true
	for _, a := range s.task.accesses {
		for _, b := range p.steps[other].task.accesses {
			if a.resource == b.resource && (a.mode == resource.Write || b.mode == resource.Write) {
				a.Place().TellWaiting()
				return
			}
		}
	}
}

// mostPaced is how many tasks a program has at most whose pace is told: to find the slowest circle takes
// some milliseconds for 10,000.
const mostPaced = 100_000

// pace is how fast the program goes and could go, nil if that is not known.
func (p *planned) pace() *inspect.Pace {
	began := p.began.Load()
	if began == 0 || len(p.steps) > mostPaced {
		return nil
	}
	times, work := p.pool.Times(), time.Duration(0)
	for _, t := range times {
		work += time.Duration(t)
	}
	bound, circle := p.plan.Period(times)
	if work == 0 || len(circle) == 0 {
		return nil
	}
	rounds := p.steps[circle[0]].task.Round()
	if rounds == 0 {
		return nil
	}
	a := &inspect.Pace{
		Round:   Seconds{Duration: time.Since(time.Unix(0, began)) / time.Duration(rounds)},
		Bound:   Seconds{Duration: time.Duration(bound.Period())},
		Work:    Seconds{Duration: work / time.Duration(len(p.workers))},
		Workers: len(p.workers),
	}
	for _, t := range circle {
		a.Circle = append(a.Circle, p.steps[t].task.name)
	}
	return a
}
