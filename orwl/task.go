package orwl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"sync/atomic"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/resource"
)

// Task is a loop over accesses to resources. It is declared by [Runtime.Task], and
// runs on a goroutine of its own.
type Task struct {
	pairs    handle.Pairs // of the accesses, once its rounds have begun
	run      *run
	round    tally.Count // that it is in, or has been through
	step     *step       // instead of a body and a goroutine
	placed   bool        // the program has said which node
	ended    atomic.Bool
	on       int // the node
	accesses []*Access
	rt       *Runtime
	of       int // the runs that had begun when it was declared
	name     string
	sequence *sequence // nil: none is declared
	body     func(*Task) error
	identity atomic.Pointer[identity] // nil until Context is called
	err      error                    // of Rounds
}

// Name is what the task was called.
func (t *Task) Name() string { return t.name }

// Node is where it runs, once the program runs.
func (t *Task) Node() int { return t.on }

// Round is how many rounds the task has been through.
func (t *Task) Round() int64 { return int64(t.round.Load()) }

// EndRound says that the task has been through another round, for reports. A
// body that acquires and releases its accesses one by one says so itself; [Task.Rounds]
// does for its own.
func (t *Task) EndRound() { t.round.Inc() }

// Read declares that the task reads r in each round.
func (t *Task) Read(r *resource.Resource) *Access { return t.access(r, resource.Read) }

// Write declares that the task writes r in each round.
func (t *Task) Write(r *resource.Resource) *Access { return t.access(r, resource.Write) }

// declare changes the program, unless the task's run has begun.
func (t *Task) declare(what string, change func() error) error {
	return t.rt.declare(what, func() error {
		if t.of != t.rt.runs {
			return fmt.Errorf("%w: %s", ErrStarted, what)
		}
		return change()
	})
}

// access declares an access. It always returns one, so that a program declares
// everything and then sees all of its errors at once.
func (t *Task) access(r *resource.Resource, m resource.Mode) *Access {
	a := &Access{task: t, resource: r, mode: m}
	t.declare(fmt.Sprintf("an access of task %q", t.name), func() error {
		if err := t.rt.mine(r, fmt.Sprintf("%s by task %q", m, t.name)); err != nil {
			return err
		}
		t.accesses = append(t.accesses, a)
		return nil
	})
	return a
}

// Do gives the task its body. The body fails if it returns an error, panics or calls
// runtime.Goexit. Then all tasks end, and nothing that the task has written and not yet
// released is committed: see [resource.Policy].
func (t *Task) Do(body func(t *Task) error) {
	t.declare(fmt.Sprintf("the body of task %q", t.name), func() error {
		if t.step != nil {
			return fmt.Errorf("%w: task %q", ErrBodies, t.name)
		}
		t.body = body
		return nil
	})
}

// Accesses are what the task has declared, in that order.
func (t *Task) Accesses() handle.Vector {
	v := make(handle.Vector, len(t.accesses))
	for i, a := range t.accesses {
		v[i] = a
	}
	return v
}

// Rounds iterates n times, or until the run ends if n is negative. In each round the task
// waits for all its accesses. Then the body of the loop runs. Then Rounds announces each
// access for the next round and releases it.
//
//	for round := range t.Rounds(100) {
//		...
//	}
//
// A body that leaves the loop early holds all accesses until the task ends. If the run ends
// or an access fails, the loop ends. Then the task ends with that error, whatever its body
// returns.
//
// A task has one such loop. The last round announces nothing, so another loop ends the task
// with [ErrRounds]. A loop of a task whose [Task.Sequence] does not hold all accesses at once
// ends the task with [ErrSequence].
//
// A round waits first for the access that the round before waited for. All accesses are
// announced, so the order makes no difference to other tasks. Mostly the same access takes
// longest, and the others are granted when it is.
func (t *Task) Rounds(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if t.err != nil {
			return // the first error counts
		}
		if t.err = t.holdsAll("Rounds"); t.err != nil {
			return
		}
		t.pair()
		last := 0 // the access that the last round waited for
		for i := 0; n < 0 || i < n; i++ {
			if last, t.err = t.acquireAll(last); t.err != nil {
				return
			}
			if !yield(i) || t.err != nil {
				return // leave ends the accesses
			}
			t.round.Inc() // before the release, so that the next task sees it
			if t.err = t.endRound(i+1, n, nil); t.err != nil {
				return
			}
		}
	}
}

// acquireAll acquires all accesses for a round, from one of them on, and returns the
// last that it had to wait for.
func (t *Task) acquireAll(first int) (last int, err error) {
	ctx := t.run.ctx
	if id := t.identity.Load(); id != nil && id.holder.Inside() {
		ctx = id.ctx // Acquire refuses to wait
	}
	last = first
	for k := range t.accesses {
		j := first + k
		if j >= len(t.accesses) {
			j -= len(t.accesses)
		}
		p := t.accesses[j].Place()
		if p.TryAcquire() {
			continue
		}
		last = j
		if err := p.Acquire(ctx); err != nil {
			return last, t.accesses[j].roundError(err)
		}
	}
	// As in Access.Acquire, but once for all.
	if ctx.Err() != nil {
		return last, context.Cause(ctx)
	}
	return last, nil
}

// roundError says in the words of Rounds that an access cannot be acquired because of
// what the task did before. Other errors stay as they are.
func (a *Access) roundError(err error) error {
	switch {
	case errors.Is(err, resource.ErrNotRequested):
		return fmt.Errorf("%w: no request for %q (%s) is in the queue, as after the last round of a Rounds loop: put all rounds into one loop, or call the access's Request before the next loop",
			ErrRounds, a.resource.Name(), a.mode)
	case errors.Is(err, resource.ErrHeld):
		return fmt.Errorf("%w: the task holds %q (%s) already, as inside a Rounds loop and after it was left early: put all rounds into one loop, or call Accesses().Next() before the next loop",
			ErrRounds, a.resource.Name(), a.mode)
	}
	return err
}

// pair makes the pairs of a task that begins its rounds.
func (t *Task) pair() {
	pairs := make([]*handle.Pair, len(t.accesses))
	for i, a := range t.accesses {
		pairs[i] = &a.Pair
	}
	t.pairs = handle.PairsOf(pairs)
}

// endRound ends a round, after which the task has done so many of all its rounds. rounds is
// negative if their number is not known. by is for the hooks of the requests that this
// grants.
func (t *Task) endRound(done, rounds int, by any) (err error) {
	if rounds < 0 || done < rounds {
		return t.pairs.NextBy(by)
	}
	for _, a := range t.accesses {
		if err = a.ReleaseBy(by); err != nil {
			return err
		}
	}
	return nil
}

// live runs the task to its end and takes back what it leaves. If the task fails, the
// run ends first, so that the effects on others do not hide the error.
func (t *Task) live() {
	if t.rt.pages != nil {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	}
	err := error(ErrExit) // unless the body returns
	defer func() {
		if value := recover(); value != nil {
			err = t.died(value)
		} else if t.err != nil {
			err = t.err
		}
		if err != nil {
			t.run.fail(t, err)
		}
		t.leave(err)
		t.ended.Store(true)
		t.finished(err)
	}()
	t.began()
	err = t.body(t)
}

// leave ends all accesses, whatever state they are in, for a task that has ended with
// err. Nobody else uses them. If the task has failed, nothing of them is committed. An
// access that cannot be ended well was lost before, and the run has its error already.
func (t *Task) leave(err error) {
	if err != nil {
		_ = t.Accesses().Abandon(&TaskError{t.name, err})
	} else {
		_ = t.Accesses().Cancel()
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
	return &PanicError{value, debug.Stack()}
}
