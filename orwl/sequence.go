package orwl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// Step is one step of a [Task.Sequence]: [Acquire] or [Release] makes it.
type Step struct {
	op       liveness.Op
	accesses []*Access
}

// Acquire is the step of a Sequence in which the body acquires these accesses, in any
// order.
func Acquire(accesses ...*Access) Step { return Step{liveness.Acquire, accesses} }

// Release is the step of a Sequence in which the body releases these accesses, in any
// order. [Access.Next] announces the next round, and [Access.Release] does not.
func Release(accesses ...*Access) Step { return Step{liveness.Release, accesses} }

// Sequence declares the order in which the body acquires and releases the task's accesses
// in each round. Without it, the proof of [Runtime.Run] takes the task to hold all its
// accesses at once, and refuses programs that live. Declare the accesses first:
//
//	own, north, south := t.Write(x), t.Read(y).Priority(1), t.Read(z).Priority(1)
//	t.Sequence(
//		orwl.Acquire(own), orwl.Release(own),
//		orwl.Acquire(north, south), orwl.Release(north, south),
//	)
//
// A Sequence acquires each access once, and then releases it once. Run refuses any other
// with a [*liveness.SystemError]. An access of another task, an empty Sequence and a second
// one are refused.
//
// The body of [Task.Do] keeps to the order. An [Access.Acquire], Next or Release out of order
// changes nothing and returns an error. One goroutine at a time uses the accesses
// of the task. A body that cancels or abandons an access ends after that: the access has
// lost its turn, and the proof does not hold for a new request.
//
// [Task.Rounds] and [Task.Each] hold all accesses at once. They refuse a Sequence that
// acquires after it has released.
func (t *Task) Sequence(steps ...Step) {
	t.declare("the sequence", func() error {
		switch {
		case t.sequence != nil:
			return fmt.Errorf("%w: task %q has one already: declare one", errSequence, t.name)
		case len(steps) == 0:
			return fmt.Errorf("%w: task %q has no step: name its accesses in Acquire and Release", errSequence, t.name)
		}
		for i, step := range steps {
			for _, a := range step.accesses {
				if !slices.Contains(t.accesses, a) {
					return fmt.Errorf("%w: step %d of task %q names an access that is not the task's: use what its Read and Write have returned", errSequence, i+1, t.name)
				}
			}
		}
		t.sequence = &sequence{steps: steps, left: len(steps[0].accesses)}
		return nil
	})
}

// errSequence is a sequence that is declared wrongly, or that a body does not keep to.
var errSequence = errors.New("orwl: wrong sequence")

// sequenceError is an acquire or a release that breaks the declared Sequence of its task.
// It matches errSequence.
type sequenceError struct {
	Task     string
	Op       liveness.Op
	Resource string
	Mode     queue.Mode
	Step     int    // the step that the task is in, counted from 0
	Want     string // the operations of this step
}

func (e *sequenceError) Error() string {
	return fmt.Sprintf("%v: task %q cannot %v %q (%v) in step %d of its round: %s first, or declare another Sequence",
		errSequence, e.Task, e.Op, e.Resource, e.Mode, e.Step+1, e.Want)
}

// Unwrap makes errors.Is match errSequence.
func (e *sequenceError) Unwrap() error { return errSequence }

// sequence is the declared order of a task's round, and the position of the task in it. A
// nil sequence allows any order.
type sequence struct {
	steps []Step
	at    int // the step of the task
	left  int // the accesses that the step has not done
}

// allows returns a *sequenceError unless the present step does op with a. The caller then
// does it, and calls did. A step does not do the same twice: the pair of the access
// refuses that.
func (s *sequence) allows(op liveness.Op, a *Access) error {
	if s == nil {
		return nil
	}
	step := s.steps[s.at]
	if step.op == op && slices.Contains(step.accesses, a) {
		return nil
	}
	return &sequenceError{Task: a.task.name, Op: op, Resource: a.resource.Name(), Mode: a.mode, Step: s.at, Want: step.String()}
}

// did counts an access of the present step. After the last one it goes to the next step.
func (s *sequence) did() {
	if s == nil {
		return
	}
	if s.left--; s.left > 0 {
		return
	}
	s.at = (s.at + 1) % len(s.steps)
	s.left = len(s.steps[s.at].accesses)
}

// String is the step in words.
func (s Step) String() string {
	names := make([]string, len(s.accesses))
	for i, a := range s.accesses {
		names[i] = fmt.Sprintf("%q (%v)", a.resource.Name(), a.mode)
	}
	return fmt.Sprintf("%v %s", s.op, strings.Join(names, ", "))
}

// described is the task as far as its liveness goes.
func (t *Task) described() liveness.Task {
	d := liveness.Task{Name: t.name, Accesses: make([]liveness.Access, len(t.accesses))}
	for i, a := range t.accesses {
		d.Accesses[i] = liveness.Access{Resource: a.resource.Name(), Mode: a.mode, Priority: int(a.priority)}
	}
	if t.sequence == nil {
		return d
	}
	for _, step := range t.sequence.steps {
		numbers := make([]int, len(step.accesses))
		for i, a := range step.accesses {
			numbers[i] = slices.Index(t.accesses, a)
		}
		d.Sequence = append(d.Sequence, liveness.Step{Op: step.op, Accesses: numbers})
	}
	return d
}

// holdsAll returns an error if the task has a Sequence and by, Rounds or Each, cannot keep
// to it.
func (t *Task) holdsAll(by string) error {
	if t.sequence == nil || t.described().HoldsAll() {
		return nil
	}
	return fmt.Errorf("%w: %s of task %q acquires all accesses at once, and its Sequence does not: acquire and release them one by one in the body of Do", errSequence, by, t.name)
}
