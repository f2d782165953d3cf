package topology

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoCPU is matched by the error of Pin on a tree whose ranks have no CPU
// numbers, because it was described or because the operating system does not
// tell.
var ErrNoCPU = errors.New("no CPU number is known: take the tree from topology.Detect, on Linux, or do not pin")

// unbounded is the High of a RangeError without an upper end.
const unbounded = math.MaxInt

// RangeError is a rank, level, element or count that a tree does not have. The
// methods that make up lock operations panic with it; WithRanks and Spread
// return it.
type RangeError struct {
	Method    string
	What      string
	Value     int
	Low, High int // what is allowed, both ends included
}

func (e *RangeError) Error() string {
	allowed := fmt.Sprintf("%d..%d", e.Low, e.High)
	if e.High == unbounded {
		allowed = fmt.Sprintf("%d or more", e.Low)
	}
	return fmt.Sprintf("topology: %s: %s is %d: give %s", e.Method, e.What, e.Value, allowed)
}

// PinError is a rank that could not be bound to its CPU.
type PinError struct {
	Rank    Rank
	CPU     int
	Allowed string // the CPUs that the thread may use, as in 0-3,8; empty if not known
	Err     error  // what the operating system said, or nil
}

func (e *PinError) Error() string {
	message := fmt.Sprintf("topology: rank %d cannot be pinned to CPU %d", e.Rank, e.CPU)
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

// DetectError is a machine that Detect could not make out.
type DetectError struct {
	File string // the file that makes no sense, or empty
	Why  string
}

func (e *DetectError) Error() string {
	message := "topology: cannot detect this machine: "
	if e.File != "" {
		message += e.File + ": "
	}
	return message + e.Why + `: describe it instead, as in topology.Parse("socket:2 core:8")`
}
