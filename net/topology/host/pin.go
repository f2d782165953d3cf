package host

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/orwl/go-orwl/net/topology"
)

// Pin binds the calling goroutine to its thread, and the thread to the CPU of rank
// p in t, until unpin. It panics with a [*topology.RangeError] unless p is a rank.
//
// Pin only ranks that compute for long between hand-overs. Pinned goroutines wake
// each other through the kernel: a hand-over took 43–99 µs, and 0.5 µs without
// pinning.
//
// If the thread may not use the CPU now, or if the kernel refuses, Pin changes
// nothing and returns a [*PinError]. If t has no CPU numbers, the error matches
// [ErrNoCPU].
//
// The same goroutine must call unpin; a call from another goroutine panics. unpin
// restores the affinity that the thread had before Pin. Later calls do nothing. If
// the kernel refuses to restore it, the goroutine stays bound to its thread, so
// that the thread ends with the goroutine and no other goroutine gets it. Pins may
// nest: undo them in reverse order.
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

// ErrNoCPU means that a tree has no CPU numbers: it comes from a description, or
// the operating system does not tell them. Match errors of Pin with it.
var ErrNoCPU = errors.New("the tree has no CPU numbers: take it from host.Detect on Linux, or do not pin")

// PinError reports a rank that Pin cannot bind to its CPU.
type PinError struct {
	Rank    topology.Rank
	CPU     int
	Allowed string // the CPUs that the thread may use, as in 0-3,8; empty if unknown
	Err     error  // from the operating system; nil if Pin did not ask it
}

func (e *PinError) Error() string {
	message := fmt.Sprintf("host: rank %d cannot be pinned to CPU %d", e.Rank, e.CPU)
	if e.Allowed != "" {
		message += fmt.Sprintf(": the thread may use only CPUs %s", e.Allowed)
	}
	if e.Err != nil {
		message += fmt.Sprintf(": %v", e.Err)
	}
	return message + ": widen the affinity or the cpuset of the process, unpin the rank that this goroutine pinned before," +
		" or call host.Detect again for the CPUs that are left"
}

// Unwrap returns Err.
func (e *PinError) Unwrap() error { return e.Err }
