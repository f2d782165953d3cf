package epoch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// ErrOpen matches the error of an operation that an open epoch excludes.
var ErrOpen = errors.New("an open epoch excludes this")

// ErrNotOpen matches the error of an operation that ends an epoch, if the rank has
// not begun one.
var ErrNotOpen = errors.New("no such epoch is open")

// ErrGroup matches the error for a group that is not a set of ranks.
var ErrGroup = errors.New("the group is not a set")

// Error says why a rank could not begin or end an epoch.
type Error struct {
	Operation string   // Fence, Post, ...
	Rank      rma.Rank // the rank that called it
	Why       error    // a sentinel, an *rma.RankError, or the error of the window or the context
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

// failed is the error of a correct operation that the window, the context or the
// fabric ended.
func (e *Sync) failed(operation string, why error) error {
	return &Error{Operation: operation, Rank: e.w.Rank(), Why: why}
}

// misuse is the error of an operation that the contract does not allow here.
func (e *Sync) misuse(operation string, why error, hint string) error {
	return &Error{Operation: operation, Rank: e.w.Rank(), Why: why, Hint: hint}
}

// result is the error of an operation after its work: the window's error, or nil.
func (e *Sync) result(operation string) error {
	if err := e.w.Err(); err != nil {
		return e.failed(operation, err)
	}
	return nil
}

// enter returns the error that prevents an operation: the window's, the context's,
// or misuse if a fence was interrupted.
func (e *Sync) enter(ctx context.Context, operation string) error {
	if err := e.w.Err(); err != nil {
		return e.failed(operation, err)
	}
	if err := ctx.Err(); err != nil {
		return e.failed(operation, err)
	}
	if e.meeting != "" && e.meeting != operation {
		return e.misuse(operation, ErrOpen, "an earlier "+e.meeting+" was interrupted: call it again first")
	}
	return nil
}

// enterAccess is enter for the beginning of an access epoch. A rank may hold up to
// locks locks of other ranks then, and no other access epoch.
func (e *Sync) enterAccess(ctx context.Context, operation string, locks int) error {
	if err := e.enter(ctx, operation); err != nil {
		return err
	}
	switch {
	case e.started:
		return e.misuse(operation, ErrOpen, "call Complete first")
	case e.heldAll:
		return e.misuse(operation, ErrOpen, "call UnlockAll first")
	case len(e.held) > locks:
		return e.misuse(operation, ErrOpen, "call Unlock for every locked rank first")
	}
	return nil
}

// enterFence is enter for a fence: no epoch may be open.
func (e *Sync) enterFence(ctx context.Context, operation string) error {
	if err := e.enterAccess(ctx, operation, 0); err != nil {
		return err
	}
	if e.exposure.open {
		return e.misuse(operation, ErrOpen, "call Wait first")
	}
	return nil
}

// checkRank returns an error for a rank that is out of range.
func (e *Sync) checkRank(operation string, p rma.Rank) error {
	if p < 0 || int(p) >= e.ranks {
		return e.failed(operation, &rma.RankError{Rank: p, Ranks: e.ranks, Why: "ranks count from 0"})
	}
	return nil
}

// checkGroup returns an error for a group that is not a set of ranks.
func (e *Sync) checkGroup(operation string, group []rma.Rank) error {
	e.sorted = append(e.sorted[:0], group...)
	slices.Sort(e.sorted)
	for i, p := range e.sorted {
		if err := e.checkRank(operation, p); err != nil {
			return err
		}
		if i > 0 && p == e.sorted[i-1] {
			return e.misuse(operation, ErrGroup, fmt.Sprintf("it names rank %d twice", p))
		}
	}
	return nil
}
