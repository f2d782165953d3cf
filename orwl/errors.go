package orwl

import (
	"errors"
	"fmt"
)

// The errors of a program that is built or run in the wrong way.
var (
	// ErrStarted: the program runs and cannot change, or a run has used what a declaration is about.
	ErrStarted = errors.New("orwl: a run has begun: declare resources, tasks and accesses before it, or after it for the next one")
	// ErrName: the name is empty, or another declaration has it.
	ErrName = errors.New("orwl: name is empty or taken")
	// ErrBody: the task has nothing to do.
	ErrBody = errors.New("orwl: task has no body: give it one by Do")
	// ErrResource: the resource in a declaration is nil.
	ErrResource = errors.New("orwl: resource is nil: declare it with Resource of this runtime, or look it up by its name")
	// ErrForeign: another runtime, or resource.New, has made the resource in a
	// declaration.
	ErrForeign = errors.New("orwl: resource is not of this runtime: declare it with Resource of this runtime, or look it up by its name")
	// ErrNoNetwork: the process is one of several nodes, and its program imports no network.
	ErrNoNetwork = errors.New("orwl: the program has no network")
	// ErrNotRelaxed: a relaxed access on another node than the resource's home.
	ErrNotRelaxed = errors.New("orwl: relaxed access is not declared: call Runtime.Relaxed before Run, or make it at the resource's home")
	// ErrEarly: a relaxed access in a run of several nodes, whose guards are not there yet.
	ErrEarly = errors.New("orwl: relaxed access before Run, on one of several nodes: make it after Run has begun")
	// ErrRounds: the task of a Rounds loop holds an access already, or has no request
	// for it.
	ErrRounds = errors.New("orwl: Rounds cannot begin")
	// ErrPriority: no access has this priority.
	ErrPriority = errors.New("orwl: priority is out of range")
	// ErrExit: the body neither returned nor panicked.
	ErrExit = errors.New("orwl: body ended its goroutine by runtime.Goexit, as the Fatal of a test does: return an error")
)

// TaskError is the error of a task. It has ended the run.
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

// Unwrap lets errors.As find an error that is the value of the panic.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// misuse is the panic of Read and Write in a task. The task ends with the error.
type misuse struct{ error }
