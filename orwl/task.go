package orwl

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"sync/atomic"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// Task is a loop over accesses to resources. It is declared by [Runtime.Task], and
// runs on a goroutine of its own.
type Task struct {
	rt       *Runtime
	name     string
	on       int  // the node
	placed   bool // the program has said which
	accesses []*Access
	body     func(*Task) error
	run      *run
	round    atomic.Int64 // that it is in, or has been through
	ended    atomic.Bool
	err      error // of Rounds
}

// Name is what the task was called.
func (t *Task) Name() string { return t.name }

// Node is where it runs, once the program runs.
func (t *Task) Node() int { return t.on }

// Round is how many rounds the task has been through.
func (t *Task) Round() int64 { return t.round.Load() }

// EndRound says that the task has been through another round, for those who look on. A
// body that acquires and releases its accesses one by one says so itself; [Task.Rounds]
// does for its own.
func (t *Task) EndRound() { t.round.Add(1) }

// Read declares that the task reads r in each round.
func (t *Task) Read(r *resource.Resource) *Access { return t.access(r, resource.Read) }

// Write declares that the task writes r in each round.
func (t *Task) Write(r *resource.Resource) *Access { return t.access(r, resource.Write) }

func (t *Task) access(r *resource.Resource, m resource.Mode) *Access {
	a := &Access{task: t, resource: r, mode: m}
	t.rt.declare(fmt.Sprintf("an access of task %q", t.name), func() error {
		if r == nil {
			return fmt.Errorf("%w: %s by task %q", ErrResource, m, t.name)
		}
		t.accesses = append(t.accesses, a)
		return nil
	})
	return a
}

// Do gives the task its body. An error that the body returns, or a panic, ends
// all tasks.
func (t *Task) Do(body func(t *Task) error) {
	t.rt.declare(fmt.Sprintf("the body of task %q", t.name), func() error {
		t.body = body
		return nil
	})
}

// Context ends when the run does.
func (t *Task) Context() context.Context { return t.run.ctx }

// Accesses are what the task has declared, in that order.
func (t *Task) Accesses() handle.Vector {
	v := make(handle.Vector, len(t.accesses))
	for i, a := range t.accesses {
		v[i] = a
	}
	return v
}

// Rounds iterates n times, or until the run ends if n is negative. In each round
// the task waits for all its accesses, then the loop's body runs, then each
// access is announced for the next round and released.
//
//	for round := range t.Rounds(100) {
//		...
//	}
//
// Who leaves the loop early still holds everything, until the task ends. If the
// run ends, or an access fails, so does the loop, and then the task with that error,
// whatever its body returns. A task has one such loop: afterwards, nothing is
// announced any more.
//
// It waits first for the access that it had to wait for the last time. All are
// announced, so the order makes no difference to others; but what has to be
// waited for longest is mostly the same, and when that is granted the rest is, too.
func (t *Task) Rounds(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		ctx := t.run.ctx
		last := 0 // that it had to wait for
		for i := 0; n < 0 || i < n; i++ {
			first := last
			for k := range t.accesses {
				j := first + k
				if j >= len(t.accesses) {
					j -= len(t.accesses)
				}
				p := t.accesses[j].Place()
				if !p.Granted() {
					last = j
				}
				if t.err = p.Acquire(ctx); t.err != nil {
					return
				}
			}
			// As in Access.Acquire, but once for all.
			if ctx.Err() != nil {
				t.err = context.Cause(ctx)
				return
			}
			if !yield(i) {
				return // the rest is taken back when the task ends
			}
			t.round.Add(1) // before anybody can have a turn who waits for this one
			if !t.renew(i == n-1) {
				return
			}
		}
	}
}

// renew ends a round, and begins the next unless it is the last.
func (t *Task) renew(last bool) bool {
	for _, a := range t.accesses {
		release := a.Pair.Release
		if last {
			release = a.Pair.End
		}
		if err := release(); err != nil {
			t.err = err
			return false
		}
	}
	return true
}

// live runs the task to its end and takes back what it leaves.
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
		// Nobody else uses the accesses, and whatever state they are in can be left.
		_ = t.Accesses().Cancel()
		t.ended.Store(true)
		t.finished(err)
	}()
	t.began()
	err = t.body(t)
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
