package orwl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/resource"
)

// Task is a loop over accesses to resources. [Runtime.Task] declares it, [Reads] and [Writes] its accesses, and [Task.Each] its
// body.
type Task struct {
	places   []*queue.Place // of its accesses, once its rounds have begun
	run      *run
	round    tally.Count // the round that it is in, or the rounds that it has been through
	step     *step       // a step task has it instead of a body and a goroutine
	placed   bool        // the program has said which node
	unit     bool        // it is a unit of the work that nodes get by their weights
	wide     bool        // each access has a counter in the plan
	ended    atomic.Bool
	on       int   // the node
	counter  int32 // its first counter in the plan of its run
	accesses []*Access
	rt       *Runtime
	of       int // how many runs had begun when it was declared
	name     string
	body     func(*Task) error
	identity atomic.Pointer[identity] // nil until Context is called
	by       tally.Count              // the goroutine that runs its body now: see here
	err      error                    // of rounds
}

// Name is what the task was called.
func (t *Task) Name() string { return t.name }

// Node is where it runs, once the program runs.
func (t *Task) Node() int { return t.on }

// Round is how many rounds the task has been through.
func (t *Task) Round() int64 { return int64(t.round.Load()) }

// reads declares that the task reads r in each round.
func (t *Task) reads(r *resource.Resource) *Access { return t.access(core(r), queue.Read) }

// writes declares that the task writes r in each round.
func (t *Task) writes(r *resource.Resource) *Access { return t.access(core(r), queue.Write) }

// declare changes the task, unless its run has begun.
func (t *Task) declare(what string, change func() error) error {
	return t.rt.declare(what+" of task", t.name, func() error {
		if t.of != t.rt.runs {
			return fmt.Errorf("%w: %s of task %q", errStarted, what, t.name)
		}
		return change()
	})
}

// access declares an access. It always returns one, so that a program declares
// everything and then sees all of its errors at once.
func (t *Task) access(r *queue.Resource, m queue.Mode) *Access {
	a := &Access{task: t, resource: r, mode: m, number: int32(len(t.accesses))}
	t.declare("an access", func() error {
		if !t.rt.mine(r) {
			return notMine(r, fmt.Sprintf("%s by task %q", m, t.name))
		}
		t.accesses = append(t.accesses, a)
		return nil
	})
	return a
}

// Do gives the task a body that runs once, on a goroutine of its own: for work whose order is not known beforehand. It uses
// resources by handles (package handle), and those are none of the run's other tasks. The body fails if it returns an error,
// panics or calls runtime.Goexit. Then all tasks end.
func (t *Task) Do(body func(t *Task) error) {
	t.declare("the body", func() error {
		if t.step != nil {
			return fmt.Errorf("%w: task %q", errBodies, t.name)
		}
		t.body = body
		return nil
	})
}

// rounds iterates n times, or until the run ends if n is negative. In each round the task
// waits for all its accesses. Then the body of the loop runs. Then rounds announces each
// access for the next round and releases it.
//
//	for round := range t.rounds(100) {
//		...
//	}
//
// A body that leaves the loop early holds all accesses until the task ends. If the run ends
// or an access fails, the loop ends. Then the task ends with that error, whatever its body
// returns.
//
// A task has one such loop. The last round announces nothing, so another loop ends the task
// with an error.
func (t *Task) rounds(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if t.err != nil {
			return // the first error counts
		}
		for i := 0; n < 0 || i < n; i++ {
			if t.err = t.acquireAll(); t.err != nil {
				return
			}
			if !yield(i) || t.err != nil {
				return // leave ends the accesses
			}
			t.round.Inc() // before the release, so that the next task sees it
			if t.err = t.run.planned.endRound(t, n >= 0 && i+1 >= n); t.err != nil {
				return
			}
		}
	}
}

// acquireAll acquires all accesses for a round.
func (t *Task) acquireAll() error {
	ctx := t.run.ctx
	if id := t.identity.Load(); id != nil && id.holder.Inside() {
		ctx = id.ctx // Acquire refuses to wait
	}
	for _, a := range t.accesses {
		if err := a.acquire(ctx); err != nil {
			return a.roundError(err)
		}
	}
	// Access.take does this for one access. Here it is once for all.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// roundError says in the words of Rounds that an access cannot be acquired because of
// what the task did before. Other errors stay as they are.
func (a *Access) roundError(err error) error {
	switch {
	case errors.Is(err, queue.ErrNotRequested):
		return fmt.Errorf("%w: no request for %q (%s) is in the queue, as after the last round of a Rounds loop: put all rounds into one loop",
			errRounds, a.resource.Name(), a.mode)
	case errors.Is(err, queue.ErrHeld):
		return fmt.Errorf("%w: the task holds %q (%s) already, as inside a Rounds loop and after it was left early: put all rounds into one loop",
			errRounds, a.resource.Name(), a.mode)
	}
	return err
}

// gather gathers the places of a task that begins its rounds.
func (t *Task) gather() {
	t.places = make([]*queue.Place, len(t.accesses))
	for i, a := range t.accesses {
		t.places[i] = &a.place
	}
}

// live runs the task to its end and takes back what it leaves. If the task fails, the
// run ends first, so that the effects on others do not hide the error.
func (t *Task) live() {
	if t.rt.pages != nil {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	}
	err := error(errExit) // unless the body returns
	defer func() {
		if value := recover(); value != nil {
			err = t.died(value)
		} else if t.err != nil {
			err = t.err
		}
		t.end(err)
	}()
	t.began()
	defer t.enter()()
	err = t.body(t)
}

// end ends the task.
func (t *Task) end(err error) {
	if err != nil {
		t.run.fail(t, err)
	}
	t.leave(err)
	t.ended.Store(true)
	if c := t.run.cuts; c != nil && err == nil {
		c.taskEnds(t)
	}
	t.finished(err)
}

// leave ends all accesses, whatever state they are in, for a task that has ended with
// err. Nobody else uses them. If the task has failed, nothing of them is committed. An
// access that cannot be ended well was lost before, and the run has its error already.
func (t *Task) leave(err error) {
	switch {
	case err != nil:
		for _, a := range t.accesses {
			_ = a.place.Abandon(&taskError{t.name, err})
		}
	case t.step == nil:
		t.run.planned.leave(t)
	default:
		t.withdraw()
	}
}

// withdraw makes all accesses idle: it releases those that hold, and takes the requests of the others back.
func (t *Task) withdraw() {
	for _, a := range t.accesses {
		switch {
		case a.place.Held():
			_ = a.release()
		case a.place.Requested():
			_ = a.cancel()
		}
	}
}

// died is the error of a body that panicked.
func (t *Task) died(value any) error {
	if m, ok := value.(misuse); ok {
		return m.error
	}
	if t.rt.pages != nil {
		if stale, ok := t.rt.pages.Stale(value); ok {
			return stale
		}
	}
	return t.panicked(value)
}
