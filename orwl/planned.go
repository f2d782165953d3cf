package orwl

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/books"
	"github.com/orwl/go-orwl/orwl/internal/plan"
)

// A run goes by a plan: what the queues would do is known before it starts. The run has each
// resource for itself. A worker finds a step whose conditions are met in its book, has the step's accesses
// hold, calls the body, commits, and publishes the round:
//
//	conditions met ──▶ GrantAll ──▶ body ──▶ EndAll ──▶ publish
//
// Another task has a goroutine, and no access in the plan. How nodes work together stands in across.go.
//
// Package plan says what the conditions are, and package books who runs what.

// planned is the plan of a run.
type planned struct {
	run     *run
	plan    *plan.Plan
	of      []*queue.Hold // by the number of the resource: nil if it has no copy here
	pool    *books.Pool
	tasks   []*Task // by counter
	steps   int     // tasks that workers run
	workers []seat
	faults  bool         // a step may use a view too late
	began   atomic.Int64 // when the workers began, in nanoseconds; 0 before
	over    atomic.Int64 // when they ended
	across  *across      // nil on one node
}

// seat is what a worker has of its own.
type seat struct {
	current *step          // the step that it runs
	places  []*queue.Place // of the accesses of that step
	kept    work           // the work for other nodes that it has kept back
	_       [64]byte
}

// takes has the worker run a step.
func (w *seat) takes(s *step) {
	w.current, w.places = s, w.places[:0]
	for _, a := range s.task.accesses {
		w.places = append(w.places, &a.place)
	}
}

// plan makes the plan of a run, and puts the run into the queues of its resources.
func (rt *Runtime) plan(r *run) error {
	p := &planned{run: r, faults: rt.pages != nil}
	program := rt.program(r)
	p.plan, p.of = plan.New(program), make([]*queue.Hold, program.Resources)
	p.number(r.tasks)
	for _, t := range r.tasks {
		if t.step != nil {
			p.steps++
		}
	}
	if err := p.joinAll(rt); err != nil {
		return err
	}
	many := rt.o.Nodes.many()
	if !many && p.inTurn(len(r.tasks)) {
		for _, t := range p.tasks {
			t.step.seat = 0
		}
		rt.seats.workers = 1
	}
	p.workers = make([]seat, rt.seats.workers)
	began := time.Now()
	o := books.Options{
		Plan: p.plan, Owner: p.owners(), Workers: len(p.workers), Patience: rt.seats.patience(),
		Run: p.round, Died: p.died, Now: func() int64 { return int64(time.Since(began)) }, Rests: many && r.cuts != nil,
	}
	if len(rt.o.Observers) > 0 {
		o.Waits = p.waits
	}
	if many && p.plan.Resources() > 0 {
		var err error
		if p.across, err = newAcross(rt, p); err != nil {
			p.give()
			return err
		}
		o.Urgent, o.Flush, o.Ears = p.urgent(), p.flush, rt.o.Nodes.node
		o.Turn, o.Idle = p.across.turn, sync.OnceFunc(func() { close(p.across.idle) })
	}
	p.pool = books.New(o)
	r.planned = p
	return nil
}

// program is what a plan needs to know of the tasks.
func (rt *Runtime) program(r *run) (p plan.Program) {
	accesses := 0
	p.Tasks = make([]plan.Task, len(r.tasks))
	for i, t := range r.tasks {
		p.Tasks[i] = plan.Task{Node: t.on}
		if t.step != nil {
			p.Tasks[i].Rounds, p.Tasks[i].Ahead = t.step.left(), r.ahead[t.on]
		}
		accesses += len(t.accesses)
	}
	p.Resources, _ = rt.numberResources(r.tasks) // also those that only a reader of the end names
	if rt.o.Nodes.many() {
		p.Homes = make([]int32, p.Resources)
	}
	p.Accesses = make([]plan.Access, 0, accesses)
	for i, t := range r.tasks {
		for _, a := range t.accesses {
			n := a.resource.number
			p.Accesses = append(p.Accesses, plan.Access{Task: uint32(i), Resource: n, Writes: a.mode == queue.Write})
			if p.Homes != nil {
				p.Homes[n] = int32(rt.homes[a.resource.Name()])
			}
		}
	}
	return p
}

// copied says by number which resources have a copy here, in a run on several nodes: this node uses or keeps them.
func (rt *Runtime) copied(p *planned) []bool {
	all := make([]bool, len(p.of))
	for n := range all {
		all[n] = !rt.o.Nodes.many() || p.plan.Home(n) == rt.Node()
	}
	for _, t := range p.run.tasks {
		for _, a := range t.accesses {
			all[a.resource.number] = all[a.resource.number] || t.here()
		}
	}
	return all
}

// joinAll makes the accesses of all tasks some of the run, in their order.
func (p *planned) joinAll(rt *Runtime) error {
	copied := rt.copied(p)
	for _, t := range p.run.tasks {
		if t.idles() {
			continue
		}
		for i, a := range t.accesses {
			if !copied[a.resource.number] {
				continue
			}
			if t.here() {
				rt.prepare(a, i+1)
			}
			if err := p.join(a); err != nil {
				for _, t := range p.run.tasks {
					t.withdraw()
				}
				p.give()
				return fmt.Errorf("orwl: first request of task %q: %w", t.name, err)
			}
		}
	}
	return nil
}

// urgent are the steps that are near another node. So the other node does not wait for steps that only this node needs.
func (p *planned) urgent() []bool {
	all := make([]bool, len(p.tasks))
	for c, t := range p.tasks {
		all[c] = t.step != nil && t.step.near
	}
	return all
}

// number gives the tasks their counters.
func (p *planned) number(tasks []*Task) {
	p.tasks = make([]*Task, p.plan.Counters())
	at := 0
	for i, t := range tasks {
		t.counter, t.wide = int32(at), false
		end := at
		if n := len(t.accesses); n > 0 {
			end = p.plan.Counter(i, n-1)
			t.wide = n > 1 && end > at
		}
		for ; at <= end; at++ {
			p.tasks[at] = t
		}
	}
}

// idles reports whether the task has no rounds in this run.
func (t *Task) idles() bool {
	return t.step != nil && t.step.rounds >= 0 && t.step.rounds <= int(t.step.start.Load())
}

// left is how many rounds of the step a run begins with.
func (s *step) left() int {
	if s.rounds < 0 {
		return plan.Open
	}
	return max(0, s.rounds-int(s.start.Load()))
}

// owners says who runs each counter.
func (p *planned) owners() []int32 {
	owner := make([]int32, len(p.tasks))
	for c, t := range p.tasks {
		switch {
		case t.step == nil || t.idles() || !t.here():
			owner[c] = books.Nobody
		case c > int(t.counter):
			owner[c] = books.Before
		default:
			owner[c] = int32(t.step.seat)
		}
	}
	return owner
}

// join makes an access one of the run. The first one of a resource puts the run into its queue.
func (p *planned) join(a *Access) error {
	h := p.hold(a)
	if h == nil {
		var err error
		if h, err = queue.NewHold(a.resource.Resource, p.run, a.resource.snapshots || a.task.rt.endsBy(a.resource)); err != nil {
			return err
		}
		p.of[a.resource.number] = h
	}
	if !a.task.here() {
		h.Skip()
		return nil
	}
	return a.place.Join(h, a.mode)
}

// hold is the run's place in the queue of an access's resource, or nil.
func (p *planned) hold(a *Access) *queue.Hold { return p.of[a.resource.number] }

// mostInTurn is how many steps inTurn looks at.
const mostInTurn = 1000

// inTurn reports whether no two steps ever run at the same time: all of them wait for each other in one
// circle. One worker then runs them faster than several, which would hand each round over.
func (p *planned) inTurn(tasks int) bool {
	if p.steps != tasks || tasks > mostInTurn {
		return false
	}
	ones, n := make([]int64, p.steps), 0
	for i, t := range p.tasks {
		if !t.idles() {
			ones[i], n = 1, n+1
		}
	}
	bound, circle := p.plan.Period(ones)
	return n > 1 && len(circle) == n && bound.Rounds == 1
}

// give gives all resources back.
func (p *planned) give() {
	if p == nil {
		return
	}
	for _, h := range p.of {
		if h != nil {
			h.Give()
		}
	}
}

// runPlan runs the tasks of a run by its plan.
func (rt *Runtime) runPlan(r *run) {
	p := r.planned
	if rt.Nodes() > 1 {
		if err := takeSpare(rt.seats.bound); err != nil {
			rt.o.Log.Debug("orwl: this node shares all CPUs of its machine", "why", err)
		}
		defer giveSpare()
	}
	tasks := slices.DeleteFunc(slices.Clone(r.tasks), func(t *Task) bool { return !t.here() })
	for _, t := range tasks {
		if t.step != nil {
			t.began()
		}
		if t.idles() {
			t.end(nil)
		}
	}
	defer func() {
		for _, t := range tasks { // of a run that has ended
			if t.ended.Load() {
				continue
			}
			if t.step == nil {
				t.began()
			}
			t.end(context.Cause(r.ctx))
		}
	}()
	for _, h := range p.of {
		if h == nil {
			continue
		}
		if err := h.Take(r.ctx); err != nil {
			rt.stop(r, err)
			return
		}
	}
	if x := p.across; x != nil {
		if err := x.begin(r.ctx); err != nil {
			rt.stop(r, err) // the other nodes wait for this one
			return
		}
		defer x.close()
	}
	rt.recall(r)
	p.began.Store(time.Now().UnixNano())
	stop := context.AfterFunc(r.ctx, p.pool.Stop)
	defer stop()
	var all sync.WaitGroup
	for w := range p.workers {
		all.Go(func() {
			defer rt.enter(&p.workers[w].current)()
			rt.work(p, w)
		})
	}
	if p.across != nil {
		defer p.across.listens()()
	}
	var bodies sync.WaitGroup
	for _, t := range tasks {
		if t.step == nil {
			bodies.Go(t.live)
		}
	}
	if p.across != nil {
		ended := make(chan struct{})
		all.Go(func() { p.across.finish(r.ctx, ended) })
		bodies.Wait()
		close(ended)
	}
	bodies.Wait()
	all.Wait()
	p.over.Store(time.Now().UnixNano())
}

// patience is how often a worker looks around before it sleeps. A node that has CPUs for itself needs them for nothing else, and a worker that
// sleeps is woken late: there, workers look for some milliseconds. A node that shares its CPUs lets the others have them soon.
func (s *seats) patience() int {
	switch {
	case s.alone:
		return 30_000
	case s.bound != nil:
		return 200
	}
	return 2000
}

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
func (p *planned) round(worker, counter int, round uint32) books.Outcome {
	s := p.tasks[counter].step
	p.workers[worker].takes(s)
	last, err := s.planned(p, worker, round)
	if err == nil && !last {
		return books.Goes
	}
	s.task.end(err)
	if err != nil {
		return books.Fails
	}
	return books.Ends
}

// planned runs a round of the step, and reports whether it was the last one.
func (s *step) planned(p *planned, worker int, round uint32) (last bool, err error) {
	r := p.run
	// A failing task ends the run, and publishes nothing. So this step knows now if the run has ended.
	if r.ctx.Err() != nil {
		return false, context.Cause(r.ctx)
	}
	t, seat := s.task, &p.workers[worker]
	if err := queue.GrantAll(seat.places); err != nil {
		return false, err
	}
	if last = r.over(s.round); !last {
		if err := s.call(); err != nil {
			return false, err
		}
		s.round++
		t.round.Inc()
		last = s.round == s.rounds
	}
	if r.cuts != nil && !t.outside {
		r.cuts.roundEnds(s, last)
	}
	s.waits = false
	if p.across == nil {
		queue.EndAll(seat.places, last)
		return last, nil
	}
	w := &seat.kept
	for _, a := range t.accesses {
		w.ends(&a.place)
	}
	queue.EndAll(seat.places, last)
	for i, a := range t.accesses {
		if c := p.counter(a); err == nil {
			err = p.across.released(w, i, c, round, p.across.then(c, round, last))
		}
	}
	p.across.raise(w)
	return last, err
}

// flush sends what a worker has kept back: rounds that follow each other share a message.
func (p *planned) flush(worker int) {
	if w := &p.workers[worker].kept; len(w.Nodes) > 0 {
		p.across.send(w)
	}
}

// died ends the step that has panicked with a value, or ended its goroutine.
func (p *planned) died(worker int, value any) {
	s, err := p.workers[worker].current, error(errExit)
	if value != nil {
		err = s.task.died(value)
	}
	s.task.end(err)
}

// waits tells the observers of a step that it waits, once in a round, and for which access first.
func (p *planned) waits(counter, other int) {
	s := p.tasks[counter].step
	if s.waits {
		return
	}
	s.waits = true
	for _, a := range s.task.accesses {
		for _, b := range p.accesses(other) {
			if a.resource == b.resource && (a.mode == queue.Write || b.mode == queue.Write) {
				_ = a.place.Waits(context.Background())
				return
			}
		}
	}
}

// counter is the counter of an access.
func (p *planned) counter(a *Access) int {
	if a.task.wide {
		return int(a.task.counter + a.number)
	}
	return int(a.task.counter)
}

// accesses are the accesses of a counter.
func (p *planned) accesses(counter int) []*Access {
	t := p.tasks[counter]
	if !t.wide {
		return t.accesses
	}
	i := counter - int(t.counter)
	return t.accesses[i : i+1]
}

// mostPaced is how many tasks a program has at most whose pace is told: to find the slowest circle takes
// some milliseconds for 10,000.
const mostPaced = 100_000

// pace is how fast a program of steps goes and could go, or went, nil if that is not known.
func (p *planned) pace() *inspect.Pace {
	began := p.began.Load()
	if began == 0 || p.across != nil || p.steps != len(p.run.tasks) || p.steps > mostPaced {
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
	rounds := p.tasks[circle[0]].did()
	if rounds == 0 {
		return nil
	}
	until := p.over.Load()
	if until == 0 {
		until = time.Now().UnixNano()
	}
	a := &inspect.Pace{
		Round:   inspect.Seconds{Duration: time.Duration((until - began) / rounds)},
		Bound:   inspect.Seconds{Duration: time.Duration(bound.Period())},
		Work:    inspect.Seconds{Duration: work / time.Duration(len(p.workers))},
		Workers: len(p.workers),
	}
	for _, t := range circle {
		a.Circle = append(a.Circle, p.tasks[t].name)
	}
	return a
}
