package orwl

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl/internal/goroutine"
	"github.com/orwl/go-orwl/resource"
)

// Task is a loop over accesses to resources. [Runtime.Task] declares it, [Reads] and [Writes] its accesses, and [Task.Each] its
// body.
type Task struct {
	run      *run
	round    tally.Count // the round that it is in, or the rounds that it has been through
	step     *step       // a step task has it instead of a body and a goroutine
	each     step        // what step points to
	placed   bool        // the program has said which node
	unit     bool        // it is a unit of the work that nodes get by their weights
	wide     bool        // each access has a counter in the plan
	outside  bool        // it is none of the program, and in no cut
	ended    atomic.Bool
	on       int   // the node
	of       int32 // how many runs had begun when it was declared
	counter  int32 // its first counter in the plan of its run
	accesses []*Access
	rt       *Runtime
	name     string
	body     func(*Task) error
	identity atomic.Pointer[identity] // nil until Context is called
	by       tally.Count              // the goroutine that runs its body now: see here
}

// Name is what the task was called.
func (t *Task) Name() string { return t.name }

// Node is where it runs, once the program runs.
func (t *Task) Node() int { return t.on }

// Round is how many rounds the task has been through, on the node that runs it. On other nodes it is 0.
func (t *Task) Round() int64 { return int64(t.round.Load()) }

// did is how many rounds have ended in this life. Any goroutine may ask.
func (t *Task) did() int64 {
	if t.step == nil {
		return 0
	}
	return max(0, t.Round()-t.step.start.Load())
}

// reads declares that the task reads r in each round.
func (t *Task) reads(r *resource.Resource) *Access { return t.access(core(r), queue.Read, nil) }

// writes declares that the task writes r in each round.
func (t *Task) writes(r *resource.Resource) *Access { return t.access(core(r), queue.Write, nil) }

// declare changes the task, unless its run has begun. what ends with "of task".
func (t *Task) declare(what string, change func() error) error {
	return t.rt.declare(what, t.name, func() error {
		if int(t.of) != t.rt.runs {
			return fmt.Errorf("%w: %s %q", errStarted, what, t.name)
		}
		return change()
	})
}

// access declares an access, if check accepts the resource. It always returns one, so that a program declares
// everything and then sees all of its errors at once.
func (t *Task) access(r *queue.Resource, m queue.Mode, check func(*queue.Resource) error) *Access {
	a := &Access{task: t, mode: m, number: int32(len(t.accesses))}
	t.declare("an access of task", func() error {
		if a.resource = t.rt.mine(r); a.resource == nil {
			a.resource = &declared{Resource: r}
			return notMine(r, fmt.Sprintf("%s by task %q", m, t.name))
		}
		if t.accesses = append(t.accesses, a); check != nil {
			if err := check(r); err != nil {
				return fmt.Errorf("task %q: %w", t.name, err)
			}
		}
		return nil
	})
	return a
}

// Do gives the task a body that runs once, on a goroutine of its own: for work whose order is not known beforehand. It uses
// resources by handles (package handle), and those are none of the run's other tasks. The body fails if it returns an error,
// panics or calls runtime.Goexit. Then all tasks end.
func (t *Task) Do(body func(t *Task) error) {
	t.declare("the body of task", func() error {
		if t.step != nil {
			return fmt.Errorf("%w: task %q", errBodies, t.name)
		}
		t.body = body
		return nil
	})
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
		t.abandon(err)
	} else {
		t.withdraw()
	}
	t.ended.Store(true)
	if c := t.run.cuts; c != nil && err == nil && !t.outside {
		c.taskEnds(t)
	}
	t.finished()
}

// withdraw makes all accesses of a task without a round to do idle: it releases those that hold, and takes the requests of the
// others back. Nobody else uses them.
func (t *Task) withdraw() {
	for _, a := range t.accesses {
		switch {
		case a.place.Held():
			_ = a.place.Release()
		case a.place.Requested():
			_ = a.place.Cancel()
		}
	}
}

// abandon makes all accesses of a task that has failed idle. Nothing of them is committed. An access that cannot be ended
// well was lost before, and the run has its error already.
func (t *Task) abandon(err error) {
	for _, a := range t.accesses {
		_ = a.place.Abandon(&taskError{t.name, err})
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

// step is the work of a step task, which has no goroutine: a worker calls the body when the plan says that the round may
// begin. See planned.go. The worker that runs the step uses it.
type step struct {
	task   *Task
	body   func(round int) error
	rounds int          // negative: until the run ends
	said   int          // rounds as declared: Last changes only rounds
	round  int          // of the next run of the body
	start  atomic.Int64 // the round in which this life begins
	seat   int16        // the number of its home worker
	near   bool         // its task is near another node: the step is urgent
	waits  bool         // it has told the observers in this round
}

// Each gives the task its body, which is called once in each of so many rounds, or until the run ends if rounds is
// negative, when all of the task's accesses are granted. Then each access is announced for the next round and released.
//
//	t.Each(100, func(round int) error {
//		...
//	})
//
// The task has no goroutine. There are GOMAXPROCS workers, and each task has one as its home. In a run of several nodes
// GOMAXPROCS is one more while they run, for the network. An idle worker takes tasks from the others. In a run of several
// nodes, tasks that share a resource with a task of another node run first. [Options.PinWorkers] binds workers to CPUs. A body
// must wait for its accesses only: while it waits, its worker runs no other task.
//
// The body holds all accesses, and cannot release them. An error that it returns, or a panic, ends all tasks. Nothing that the
// task has written in this round is committed then.
func (t *Task) Each(rounds int, body func(round int) error) {
	t.declare("the body of task", func() error {
		if t.body != nil || t.step != nil {
			return fmt.Errorf("%w: task %q", errBodies, t.name)
		}
		t.each = step{task: t, body: body, rounds: rounds, said: rounds}
		t.step = &t.each
		return nil
	})
}

// Last makes this round the last one of the task, whatever number of rounds [Task.Each] has got. The body of Each
// calls it. A body of [Task.Do] that calls it ends with an error.
func (t *Task) Last() {
	if t.step == nil {
		panic(misuse{fmt.Errorf("%w: task %q", errLast, t.name)})
	}
	t.own(nil)
	t.step.rounds = t.step.round + 1
}

// errBodies is a task that has been given two bodies.
var errBodies = errors.New("orwl: task has a body already: call Each or Do, once")

// Access is what a task does with a resource in each round: see [Reads] and [Writes].
//
// A run grants it before each round of [Task.Each], and ends it after the round.
type Access struct {
	place    queue.Place
	task     *Task
	resource *declared
	mode     queue.Mode
	number   int32 // in its task
}

// read is the resource's bytes as elements of type T, while the task holds it. On
// misuse it ends the task with the error that [handle.Read] returns.
func read[T any](a *Access) handle.View[T] {
	a.task.own(a)
	v, err := typed.Read[T](&a.place, new(typed.Memo))
	if err != nil {
		panic(misuse{err})
	}
	return handle.View[T](v)
}

// write is the resource's bytes as elements of type T, to change while the task holds
// it. On misuse it ends the task with the error that [handle.Write] returns.
func write[T any](a *Access) []T {
	a.task.own(a)
	s, err := typed.Write[T](&a.place, new(typed.Memo))
	if err != nil {
		panic(misuse{err})
	}
	return s
}

// A view does not say which task asks for it. So a body could write by the access of another task, while that one
// holds it, and no error would tell. But each body runs on a goroutine that the runtime has started:
//
//	Task.by         the goroutine that runs the task's body now
//	Runtime.bodies  the task whose body a goroutine runs now
//
// Right use compares the first with the caller, which takes about a nanosecond. Only if they differ, the second
// tells which body the caller runs. A goroutine that a body has started runs no body, and may use what the body
// uses.

// enter notes that the calling goroutine runs the body of the task, until the function that it returns is called.
func (t *Task) enter() (leave func()) {
	t.by.Set(goroutine.Number())
	none := t.rt.enter(t)
	return func() {
		none()
		t.by.Set(0)
	}
}

// enter notes whose bodies the calling goroutine runs: a *Task, or a **step for the step that it runs at the time.
func (rt *Runtime) enter(whose any) (leave func()) {
	g := goroutine.Number()
	if g == 0 {
		return func() {} // this processor does not tell
	}
	rt.bodies.Store(g, whose)
	return func() { rt.bodies.Delete(g) }
}

// call calls the body of a step.
func (s *step) call() error {
	s.task.by.Set(goroutine.Number())
	err := s.body(s.round)
	s.task.by.Set(0)
	return err
}

// own ends the task whose body calls it, unless that is t. a is the access of t that is used, nil for the task itself.
func (t *Task) own(a *Access) {
	if t.by.Load() != goroutine.Number() {
		t.foreign(a)
	}
}

// foreign is own for a caller that is not the goroutine of t's body.
func (t *Task) foreign(a *Access) {
	switch caller := t.rt.caller(); {
	case caller == nil || caller == t:
	case a == nil:
		panic(misuse{fmt.Errorf("%w: Last of task %q in task %q", errOtherTask, t.name, caller.name)})
	default:
		panic(misuse{fmt.Errorf("%w: the access of task %q to %s %q, used by task %q", errOtherTask, t.name, a.mode, a.resource.Name(), caller.name)})
	}
}

// caller is the task whose body the calling goroutine runs, or nil.
func (rt *Runtime) caller() *Task {
	whose, _ := rt.bodies.Load(goroutine.Number())
	switch whose := whose.(type) {
	case *Task:
		return whose
	case **step:
		if *whose != nil {
			return (*whose).task
		}
	}
	return nil
}
