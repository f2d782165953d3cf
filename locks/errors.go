package locks

import (
	"errors"
	"fmt"
)

// ErrBroken is matched by every *BrokenError.
var ErrBroken = errors.New("locks: lock is broken")

// BrokenError is the error of a lock whose protocol a failure of the window
// interrupted. Nobody gets such a lock any more.
type BrokenError struct {
	Lock  string
	Rank  Rank
	Cause error // the window's failure
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("locks: %s is broken for rank %d: %v: make a new lock on a fabric of the survivors", e.Lock, e.Rank, e.Cause)
}

// Is matches ErrBroken.
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

// Unwrap makes errors.Is find the cause.
func (e *BrokenError) Unwrap() error { return e.Cause }

// MisuseError is the value of the panic after a call that no correct program
// makes.
type MisuseError struct {
	Lock string
	Rank Rank // negative if a goroutine without a rank made it
	What string
}

func (e *MisuseError) Error() string {
	if e.Rank < 0 {
		return fmt.Sprintf("locks: %s %s", e.Lock, e.What)
	}
	return fmt.Sprintf("locks: %s, rank %d: %s", e.Lock, e.Rank, e.What)
}

// OptionError is an option that a lock cannot be made with.
type OptionError struct {
	Lock, Option string
	Value        any
	Want         string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("locks: %s: option %s is %v, want %s", e.Lock, e.Option, e.Value, e.Want)
}
