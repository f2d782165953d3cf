package host

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/orwl/go-orwl/net/topology"
)

// Pin binds the calling goroutine to a thread and the thread to the CPU of rank
// p, until unpin. It panics unless p is a rank.
//
// Goroutines that are bound to threads wake each other through the kernel: a
// hand-over between two of them was measured at 43–99 µs, against half a
// microsecond without. Pin ranks that compute for long between hand-overs, and
// no others.
//
// The CPU has to be one that the thread may use now; otherwise, or if the
// kernel refuses, nothing is changed and the error is a [*PinError]. It matches
// ErrNoCPU if the tree has no CPU numbers.
//
// The goroutine that pinned calls unpin, which gives the thread back what it
// could use before; calls after the first do nothing, and another goroutine's
// panics. If what could be used before is gone meanwhile, the goroutine stays
// on its thread, so that the thread ends with it and no other goroutine
// inherits the binding. Pins may nest, and are undone in reverse order.
func Pin(t *topology.Tree, p topology.Rank) (unpin func(), err error) {
	cpu, ok := t.CPU(p)
	if !ok {
		return nil, fmt.Errorf("host: rank %d cannot be pinned: %w", p, ErrNoCPU)
	}
	runtime.LockOSThread()
	restore, err := pinThread(p, cpu)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	undone := false
	return func() {
		if undone {
			return
		}
		if restore() {
			runtime.UnlockOSThread()
		}
		undone = true
	}, nil
}

// ErrNoCPU is matched by the error of Pin on a tree whose ranks have no CPU
// numbers, because it was described or because the operating system does not
// tell.
var ErrNoCPU = errors.New("no CPU number is known: take the tree from host.Detect, on Linux, or do not pin")

// PinError is a rank that could not be bound to its CPU.
type PinError struct {
	Rank    topology.Rank
	CPU     int
	Allowed string // the CPUs that the thread may use, as in 0-3,8; empty if not known
	Err     error  // what the operating system said, or nil
}

func (e *PinError) Error() string {
	message := fmt.Sprintf("host: rank %d cannot be pinned to CPU %d", e.Rank, e.CPU)
	if e.Allowed != "" {
		message += fmt.Sprintf(": the thread may use only CPUs %s", e.Allowed)
	}
	if e.Err != nil {
		message += fmt.Sprintf(": %v", e.Err)
	}
	return message + ": give the process a wider affinity or cpuset, unpin a rank that this goroutine pinned before," +
		" or call Detect again for a tree of the CPUs that are left"
}

// Unwrap is what the operating system said.
func (e *PinError) Unwrap() error { return e.Err }
