package orwl

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/orwl/go-orwl/orwl/internal/workers"
)

// A step task has no goroutine. A worker calls its body when all accesses of a round are
// granted:
//
//	waiting ──the last access is granted──▶ ready ──a worker takes it──▶ running
//	   ▲                                                                    │
//	   └──────────── all accesses are requested again and released ─────────┘
//
// missing counts the accesses of the coming round that are not granted yet, and one more
// until the worker has requested all of them. The caller that counts it down to zero makes
// the step ready, so exactly one caller does.
type step struct {
	task   *Task
	body   func(round int) error
	rounds int // negative: until the run ends
	seat   int // the number of its home worker
	pool   *pool
	home   *workers.Worker[step] // its queue gets the step, unless a worker's release makes it ready

	round   int // of the next run of the body; the worker's that runs it
	begun   bool
	missing atomic.Int32
}

// Each makes the task a step task: body is called once in each of so many rounds, or
// until the run ends if rounds is negative, when all of the task's accesses are granted.
// Then each access is announced for the next round and released, as by [Task.Rounds].
//
//	t.Each(100, func(round int) error {
//		...
//	})
//
// A step task takes the place of a task whose body is one Rounds loop, and takes a fifth to
// a half of its time. It has no goroutine. When the release of a worker grants the last access of a
// step, that worker runs it next. There are GOMAXPROCS workers, and an idle one takes steps
// from the others. [Options.PinWorkers] binds them to CPUs. A body must wait for its
// accesses only: while it waits, its worker runs no other step. All the rest is as in a
// task with a goroutine: an error that the body returns, or a panic, ends all tasks.
//
// Run refuses Each for a task whose [Task.Sequence] does not hold all accesses at once.
func (t *Task) Each(rounds int, body func(round int) error) {
	t.declare(fmt.Sprintf("the body of task %q", t.name), func() error {
		if t.body != nil || t.step != nil {
			return fmt.Errorf("%w: task %q", ErrBodies, t.name)
		}
		t.step = &step{task: t, body: body, rounds: rounds}
		return nil
	})
}

// ErrBodies is a task that has been given two bodies.
var ErrBodies = errors.New("orwl: task has a body already: call Do or Each, once")

// Granted implements resource.Hook: an access of the coming round is granted. by is the
// worker that has released, or nil.
func (s *step) Granted(by any) {
	if s.missing.Add(-1) != 0 {
		return
	}
	if w, ok := by.(*worker); ok && w.pool == s.pool {
		w.Next(s)
	} else {
		s.home.Push(s)
	}
}

// await registers the step for the grants of the coming round, whose accesses have been
// requested, and reports whether all are granted. If one is not, its observer is told that
// the step waits. Others may be missing too, but a task waits once at a time.
func (s *step) await() (ready bool, err error) {
	s.missing.Store(int32(len(s.task.accesses)) + 1)
	waits := false
	for _, a := range s.task.accesses {
		if err := a.Place().Tell(s); err != nil {
			return false, err
		}
		waits = waits || a.Place().Waits()
	}
	return s.missing.Add(-1) == 0, nil
}

// run runs one round, and reports whether the step goes on.
func (s *step) run(w *worker) (more bool, err error) {
	t := s.task
	if !s.begun {
		s.begun = true
		t.began()
	}
	ctx := t.run.ctx
	for _, a := range t.accesses {
		if err := a.Place().Acquire(ctx); err != nil {
			return false, err
		}
	}
	// A failing task ends the run before it releases. So this step knows now if it owes
	// an access to that.
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err := s.body(s.round); err != nil {
		return false, err
	}
	s.round++
	t.round.Inc() // before the release, so that the next task sees it
	return s.round != s.rounds, s.release(w)
}

// release ends a round. It requests the accesses of the next one, unless this was the last.
func (s *step) release(w *worker) error {
	for _, a := range s.task.accesses {
		if err := a.ending(s.round, s.rounds)(w); err != nil {
			return err
		}
	}
	return nil
}

// end ends the step, as live ends a task with a goroutine.
func (s *step) end(err error) {
	t := s.task
	if err != nil {
		t.run.fail(t, err)
	}
	t.leave(err)
	t.ended.Store(true)
	t.finished(err)
	s.pool.done()
}
