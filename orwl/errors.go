package orwl

import (
	"errors"
	"fmt"
)

// What a program may be built or run in the wrong way.
var (
	// ErrStarted is a change of a program that runs, or has run.
	ErrStarted = errors.New("orwl: the runtime has been started: declare resources, tasks and accesses before Run, and run once")
	// ErrName is a name that is empty, or that something else has.
	ErrName = errors.New("orwl: name is empty or taken")
	// ErrBody is a task without anything to do.
	ErrBody = errors.New("orwl: task has no body: give it one by Do")
	// ErrResource is a nil resource in a declaration.
	ErrResource = errors.New("orwl: resource is nil: declare it with Resource of this runtime, or look it up by its name")
	// ErrForeign is a resource in a declaration that another runtime, or resource.New,
	// has made.
	ErrForeign = errors.New("orwl: resource is not of this runtime: declare it with Resource of this runtime, or look it up by its name")
	// ErrRounds is a Rounds loop whose task holds an access already, or has no request
	// for it.
	ErrRounds = errors.New("orwl: Rounds cannot begin")
	// ErrExit is a body that neither returned nor panicked.
	ErrExit = errors.New("orwl: body ended its goroutine by runtime.Goexit, as the Fatal of a test does: return an error")
)

// TaskError is what ended a task, and with it the others.
type TaskError struct {
	Task string
	Err  error
}

func (e *TaskError) Error() string { return fmt.Sprintf("orwl: task %q: %v", e.Task, e.Err) }

func (e *TaskError) Unwrap() error { return e.Err }

// PanicError is a panic of a task's body.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Unwrap lets errors.As find a panic's value that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// misuse is what Read and Write panic with in a task, which then ends with the
// error.
type misuse struct{ error }
