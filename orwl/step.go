package orwl

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/orwl/internal/workers"
	"github.com/orwl/go-orwl/resource"
)

// A step task has no goroutine. A worker acquires its accesses, one after another, and then
// calls the body:
//
//	waiting ──the access is granted──▶ ready ──a worker takes it──▶ acquires ──all──▶ runs
//	   ▲                                                            │     ▲            │
//	   └───────────────── one is not granted ───────────────────────┘     └ next round ┘
//
// A step waits for one access at a time, so it is in one queue's list, and one grant makes it
// ready. It begins each round with the access that it waited for last. Mostly that one takes
// longest, and the others are granted when it is.
type step struct {
	task   *Task
	body   func(round int) error
	rounds int // negative: until the run ends
	pool   *pool
	home   *workers.Worker[step] // its queue gets the step, unless another worker runs it next
	rank   workers.Rank          // steps near another node are urgent
	hook   resource.Hook         // of the access that it waits for

	// The worker that runs the step uses these. When the step waits, the worker that its
	// grant makes take it is the next one. seat does not change.
	round int   // of the next run of the body
	next  int32 // the access to acquire next
	left  int32 // accesses that are neither acquired nor behind
	first int32 // the access that the next round begins with
	seat  int16 // the number of its home worker
	waits bool  // it has told the observers in this round

	// Some accesses are granted by their queues, and not acquired: they have a guard, or
	// their home is on another node. They come last, so that the step keeps no relaxed
	// access out while it waits for a grant.
	behind bool
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
// a half of its time. It has no goroutine. There are GOMAXPROCS workers, and each step has one
// as its home. In a run of several nodes GOMAXPROCS is one more while they run, for the network.
// An idle worker takes steps from the others. In a run of several nodes, steps whose tasks share a
// resource with a task of another node run first. [Options.PinWorkers] binds workers to CPUs. A body must
// wait for its accesses only: while it waits, its worker runs no other step. All the rest is as in a task
// with a goroutine: an error that the body returns, or a panic, ends all tasks.
//
// If all tasks of a run are step tasks, on one node, the run has its resources for itself: what the queues
// would do is known, and comparing round numbers takes their place. Then the body holds all accesses
// ([resource.ErrPlanned]), and whoever asks for a resource from outside waits for the end of the run.
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

// Last makes the round the last one. Only the body of [Task.Each] calls it.
func (t *Task) Last() { t.step.rounds = t.step.round + 1 }

// ErrBodies is a task that has been given two bodies.
var ErrBodies = errors.New("orwl: task has a body already: call Do or Each, once")

// ready goes on to acquire the accesses of the round, and reports whether the queues have
// granted all. If not, the grant of the one that is missing makes the step ready. That may be
// at once, so the caller leaves the step to others then.
func (s *step) ready() (all bool, err error) {
	places := s.task.pairs.Places()
	if s.left > 0 {
		s.first = s.next // it has waited for this one, unless the round begins
	}
	for s.left > 0 {
		end := min(s.next+s.left, int32(len(places)))
		n := int32(resource.TryAcquireAll(places[s.next:end]))
		s.next, s.left = s.next+n, s.left-n
		if s.next < end {
			begins := !s.waits
			s.waits = true // before the step is left to others
			if granted, err := places[s.next].GrantedOrTell(&s.hook, begins); !granted {
				return false, err
			}
			s.waits = !begins
			s.behind = true
			s.next, s.left = s.next+1, s.left-1
		}
		if int(s.next) == len(places) {
			s.next = 0
		}
	}
	return true, nil
}

// acquire acquires the accesses that are behind. It waits for relaxed accesses only.
func (s *step) acquire(ctx context.Context) error {
	s.behind = false
	for _, a := range s.task.accesses {
		if p := a.Place(); !p.Held() {
			if err := p.Acquire(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs the step until it waits, has ended, or has run its body once. If it is ready then,
// the worker runs it again.
func (s *step) run(w *worker) error {
	all, err := s.ready()
	if err != nil || !all {
		return err
	}
	t := s.task
	ctx := t.run.ctx
	if s.behind {
		if err := s.acquire(ctx); err != nil {
			return err
		}
	}
	// A failing task ends the run before it releases. So this step knows now if it owes
	// an access to that.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.body(s.round); err != nil {
		return err
	}
	s.round++
	t.round.Inc() // before the release, so that the next task sees it
	s.next, s.left, s.waits = s.first, int32(len(t.pairs.Places())), false
	if err := t.endRound(s.round, s.rounds, w); err != nil {
		return err
	}
	if s.round == s.rounds {
		s.end(nil)
		return nil
	}
	if all, err = s.ready(); all {
		w.Ready(s, s.rank, s.home)
	}
	return err
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
	if s.pool != nil {
		s.pool.done()
	}
}
