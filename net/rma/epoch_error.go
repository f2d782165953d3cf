package rma

import (
	"errors"
	"fmt"
)

// ErrEpochOpen is matched by the error of an operation that another epoch,
// still open, excludes.
var ErrEpochOpen = errors.New("an epoch is open that excludes this")

// ErrNoEpoch is matched by the error of the end of an epoch that nobody began.
var ErrNoEpoch = errors.New("no such epoch is open")

// ErrEpochGroup is matched by the error of a group that is not a set of ranks.
var ErrEpochGroup = errors.New("the group is not a set")

// EpochError is what kept a rank from beginning or ending an epoch.
type EpochError struct {
	Operation string // Fence, Post, ...
	Rank      Rank   // whose
	Why       error  // a sentinel, a *RankError, the window's error or the context's
	Hint      string // the next step, if one is known
}

func (e *EpochError) Error() string {
	text := fmt.Sprintf("rma: %s of rank %d: %v", e.Operation, e.Rank, e.Why)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// Unwrap makes errors.Is and errors.As find the reason.
func (e *EpochError) Unwrap() error { return e.Why }

// failed is the error of an operation that the world did not let through.
func (e *Epoch) failed(operation string, why error) error {
	return &EpochError{Operation: operation, Rank: e.w.Rank(), Why: why}
}

// misuse is the error of an operation that is not allowed here.
func (e *Epoch) misuse(operation string, why error, hint string) error {
	return &EpochError{Operation: operation, Rank: e.w.Rank(), Why: why, Hint: hint}
}
