package orwl

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/internal/workers"
)

// pool runs the step tasks of a run: its workers are goroutines, and the pool says which of
// them runs which step.
type pool struct {
	*workers.Pool[step]
	faults bool           // a step may use a view too late
	cpus   *topology.Tree // workers are pinned to its ranks; nil: they are not
	refuse func(error)    // ends the run because a worker cannot be pinned
	left   atomic.Int64   // steps that have not ended
}

// worker is a goroutine that runs steps.
type worker struct {
	*workers.Worker[step]
	pool    *pool
	current *step    // that runs
	_       [64]byte // the next worker is in another cache line
}

// steps runs the step tasks of this node, and returns when they have ended.
func (rt *Runtime) steps(r *run) {
	var all []*step
	for _, t := range r.tasks {
		if t.step != nil && t.here() {
			all = append(all, t.step)
		}
	}
	if len(all) == 0 {
		return
	}
	if r.planned != nil {
		rt.runPlan(r, all)
		return
	}
	if rt.Nodes() > 1 {
		takeSpare()
		defer giveSpare()
	}
	n := r.seats.workers
	p := &pool{
		Pool: workers.New[step](n), faults: rt.pages != nil, cpus: r.seats.cpus,
		refuse: func(why error) { rt.stop(r, why) },
	}
	p.left.Store(int64(len(all)))
	for _, s := range all {
		s.pool, s.home = p, p.Worker(int(s.seat))
	}
	stop := context.AfterFunc(r.ctx, p.Finish)
	defer stop()
	for _, s := range all {
		s.arm()
	}
	var work sync.WaitGroup
	for i := range n {
		w := &worker{Worker: p.Worker(i), pool: p}
		work.Go(w.work)
	}
	work.Wait()
	for _, s := range all { // of a run that has ended
		if !s.task.ended.Load() {
			s.end(context.Cause(r.ctx))
		}
	}
}

// arm begins the first round.
func (s *step) arm() {
	s.task.began()
	if s.rounds == 0 {
		s.end(nil)
		return
	}
	s.task.pair()
	s.hook.Granted = func(by any) {
		if w, ok := by.(*worker); ok && w.pool == s.pool { // this worker has released
			w.Ready(s, s.rank, s.home)
		} else {
			s.home.Push(s, s.rank)
		}
	}
	s.left = int32(len(s.task.accesses))
	all, err := s.ready()
	if err != nil {
		s.end(err)
	} else if all {
		s.home.Push(s, s.rank)
	}
}

// done counts a step that has ended.
func (p *pool) done() {
	if p.left.Add(-1) == 0 {
		p.Finish()
	}
}

// work runs steps until no step is left, or the run has ended. A worker that cannot be
// pinned ends the run.
func (w *worker) work() {
	unpin, err := w.pin()
	if err != nil {
		w.pool.refuse(err)
		return
	}
	defer unpin()
	if w.pool.faults {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	}
	for w.current = w.Take(); w.current != nil; w.current = w.Take() {
		w.runs()
	}
}

// runs runs the current step and those that it makes ready, until there is none or one has
// panicked.
func (w *worker) runs() {
	err := error(ErrExit) // unless the step returns
	defer func() {
		if value := recover(); value != nil {
			err = w.current.task.died(value)
		}
		if err != nil {
			w.current.end(err)
		}
	}()
	for w.current != nil {
		err = ErrExit
		if err = w.current.run(w); err != nil {
			return
		}
		w.current = w.Following()
	}
}
