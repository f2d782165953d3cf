package orwl

import (
	"errors"
	"fmt"
)

// step is the work of a step task, which has no goroutine: a worker calls the body when the plan says that the round may
// begin. See planned.go. The worker that runs the step uses it.
type step struct {
	task   *Task
	body   func(round int) error
	rounds int   // negative: until the run ends
	said   int   // rounds as declared: Last changes only rounds
	round  int   // of the next run of the body
	start  int   // the round in which this life begins
	seat   int16 // the number of its home worker
	near   bool  // its task is near another node: the step is urgent
	waits  bool  // it has told the observers in this round
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
	t.declare("the body", func() error {
		if t.body != nil || t.step != nil {
			return fmt.Errorf("%w: task %q", errBodies, t.name)
		}
		t.step = &step{task: t, body: body, rounds: rounds, said: rounds}
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
