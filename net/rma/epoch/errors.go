package epoch

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// result is the error of an operation that has done its work: nil, unless the
// window failed meanwhile.
func (e *Sync) result(operation string) error {
	if err := e.w.Err(); err != nil {
		return e.failed(operation, err)
	}
	return nil
}

// enter is the error that keeps an operation from beginning: the window's, the
// context's, or a Fence that was interrupted.
func (e *Sync) enter(ctx context.Context, operation string) error {
	if err := e.w.Err(); err != nil {
		return e.failed(operation, err)
	}
	if err := ctx.Err(); err != nil {
		return e.failed(operation, err)
	}
	if e.meeting != "" && e.meeting != operation {
		return e.misuse(operation, ErrOpen, "a "+e.meeting+" was interrupted: call it again first")
	}
	return nil
}

// enterAccess is enter for the beginning of an access epoch. Locks of several
// ranks go together, nothing else does.
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
		return e.misuse(operation, ErrOpen, "Unlock every rank first")
	}
	return nil
}

// enterFence is enter for an operation that is a fence: no epoch may be open.
func (e *Sync) enterFence(ctx context.Context, operation string) error {
	if err := e.enterAccess(ctx, operation, 0); err != nil {
		return err
	}
	if e.exposure.open {
		return e.misuse(operation, ErrOpen, "call Wait first")
	}
	return nil
}

// checkRank is the error for a rank that does not exist.
func (e *Sync) checkRank(operation string, p rma.Rank) error {
	if p < 0 || int(p) >= e.ranks {
		return e.failed(operation, &rma.RankError{Rank: p, Ranks: e.ranks, Why: "ranks count from 0"})
	}
	return nil
}

// checkGroup is the error for a group that is not a set of ranks.
func (e *Sync) checkGroup(operation string, group []rma.Rank) error {
	e.sorted = append(e.sorted[:0], group...)
	slices.Sort(e.sorted)
	for i, p := range e.sorted {
		if err := e.checkRank(operation, p); err != nil {
			return err
		}
		if i > 0 && p == e.sorted[i-1] {
			return e.misuse(operation, ErrGroup, fmt.Sprintf("rank %d is in it twice", p))
		}
	}
	return nil
}
