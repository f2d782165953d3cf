package epoch

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// ErrOpen is matched by the error of an operation that another epoch,
// still open, excludes.
var ErrOpen = errors.New("an epoch is open that excludes this")

// ErrNotOpen is matched by the error of the end of an epoch that nobody began.
var ErrNotOpen = errors.New("no such epoch is open")

// ErrGroup is matched by the error of a group that is not a set of ranks.
var ErrGroup = errors.New("the group is not a set")

// Error is what kept a rank from beginning or ending an epoch.
type Error struct {
	Operation string   // Fence, Post, ...
	Rank      rma.Rank // whose
	Why       error    // a sentinel, a *RankError, the window's error or the context's
	Hint      string   // the next step, if one is known
}

func (e *Error) Error() string {
	text := fmt.Sprintf("epoch: %s of rank %d: %v", e.Operation, e.Rank, e.Why)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// Unwrap makes errors.Is and errors.As find the reason.
func (e *Error) Unwrap() error { return e.Why }

// failed is the error of an operation that the world did not let through.
func (e *Sync) failed(operation string, why error) error {
	return &Error{Operation: operation, Rank: e.w.Rank(), Why: why}
}

// misuse is the error of an operation that is not allowed here.
func (e *Sync) misuse(operation string, why error, hint string) error {
	return &Error{Operation: operation, Rank: e.w.Rank(), Why: why, Hint: hint}
}
