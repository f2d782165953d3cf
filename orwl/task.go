package orwl

import (
	"fmt"
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
	if c := t.run.cuts; c != nil && err == nil {
		c.taskEnds(t)
	}
	t.finished(err)
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
