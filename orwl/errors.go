package orwl

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// The errors of a program that is built or run in the wrong way.
var (
	// errStarted: the program runs and cannot change, or a run has used what a declaration is about.
	errStarted = errors.New("orwl: a run has begun: declare resources, tasks and accesses before it, or after it for the next one")
	// errName: the name is empty, or another declaration has it.
	errName = errors.New("orwl: name is empty or taken")
	// errBody: the task has nothing to do.
	errBody = errors.New("orwl: task has no body: give it one by Each or Do")
	// errResource: the resource in a declaration is nil.
	errResource = errors.New("orwl: resource is nil: declare it by Array with this runtime")
	// errForeign: another runtime, or resource.New, has made the resource in a
	// declaration.
	errForeign = errors.New("orwl: resource is not of this runtime: declare it by Array with this runtime")
	// errNoNetwork: the process is one of several nodes, and its program imports no network.
	errNoNetwork = errors.New("orwl: the program has no network")
	// errNotRelaxed: a relaxed access on another node than the resource's home.
	errNotRelaxed = errors.New("orwl: relaxed access on another node than the resource's home: make it there")
	// errAccesses: the task declares accesses, and its body has no rounds.
	errAccesses = errors.New("orwl: a body of Do uses no declared access: give the task a body by Each, or use the resource by a handle")
	// errLast: a task that is no step task asks for its last round.
	errLast = errors.New("orwl: Last is for a body of Each: a body of Do leaves its loop, and returns")
	// errOtherTask: the body of a task uses what another task has declared.
	errOtherTask = errors.New("orwl: it is another task's: declare an access for each task that uses it")
	// errExit: the body neither returned nor panicked.
	errExit = errors.New("orwl: body ended its goroutine by runtime.Goexit, as the Fatal of a test does: return an error")
)

// taskError is the error of a task. It has ended the run.
type taskError struct {
	Task string
	Err  error
}

func (e *taskError) Error() string { return fmt.Sprintf("orwl: task %q: %v", e.Task, e.Err) }

func (e *taskError) Unwrap() error { return e.Err }

// panicError is a panic of a task's body. The first line of its text has the place in the program.
type panicError struct {
	Value any
	Round int64  // of the task, from 0
	At    string // FILE:LINE of the body, or of what it called
	Stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("panic in round %d at %s: %v\n%s", e.Round, e.At, e.Value, e.Stack)
}

// Unwrap lets errors.As find an error that is the value of the panic.
func (e *panicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// panicked is the error of a body of t that panics with a value. The function that recovers calls it.
func (t *Task) panicked(value any) *panicError {
	return &panicError{Value: value, Round: t.Round(), At: panicLine(), Stack: debug.Stack()}
}

// panicLine is the line of the program at which the goroutine panics. It passes over the calls of Go and of this
// library that stand above this line in the stack.
func panicLine() string {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	f, more := frames.Next()
	for more && f.Function != "runtime.gopanic" {
		f, more = frames.Next()
	}
	standard := strings.TrimSuffix(f.File, "runtime/panic.go") // the folder of Go's library, "" if it is not told
	first := ""
	for more {
		f, more = frames.Next()
		line := fmt.Sprintf("%s:%d", f.File, f.Line)
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			continue
		case !isLibrary(f) && (standard == "" || !strings.HasPrefix(f.File, standard)):
			return line
		case first == "":
			first = line
		}
	}
	return first
}

// isLibrary reports whether a function is one that bodies call, and not a program or a test.
func isLibrary(f runtime.Frame) bool {
	name, ours := strings.CutPrefix(f.Function, "github.com/orwl/go-orwl/")
	if !ours || strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	part, _, _ := strings.Cut(name, "/")
	part, _, _ = strings.Cut(part, ".")
	return part == "orwl" || part == "handle" || part == "resource" || part == "internal"
}

// misuse is the panic of Read and Write in a task. The task ends with the error.
type misuse struct{ error }
