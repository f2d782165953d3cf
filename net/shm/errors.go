package shm

import (
	"errors"
	"fmt"
)

// ErrNotAFabric matches the error of Open for a file that Create has not made.
var ErrNotAFabric = errors.New("shm: the file is not a fabric")

// ErrMismatch matches every *MismatchError.
var ErrMismatch = errors.New("shm: the fabric was made otherwise")

// MismatchError is the error of Open for a fabric that differs from what this
// process expects.
type MismatchError struct {
	Field  string // the property that differs: version, ranks, topology, Words, DynamicWords
	Fabric string // the fabric's value
	Here   string // the value that this process wants
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%v: its %s is %s, here it is %s: start every process from one build with the same options",
		ErrMismatch, e.Field, e.Fabric, e.Here)
}

// Is matches ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }
