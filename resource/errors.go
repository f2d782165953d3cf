package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// The errors of misuse of a Place, and of an access that ends early. Errors of this
// package match one of these by errors.Is, and are a *PlaceError.
var (
	// ErrRequested: the place has a request already.
	ErrRequested = errors.New("requested already: acquire and release, or cancel, first")
	// ErrNotRequested: the place has no request to acquire, test or cancel.
	ErrNotRequested = errors.New("not requested: request it first")
	// ErrHeld: the place holds the resource, so it can neither acquire nor cancel.
	ErrHeld = errors.New("acquired already: release it first")
	// ErrNotHeld: the operation needs a grant that has been acquired.
	ErrNotHeld = errors.New("not acquired: acquire it first")
	// ErrReadOnly: the place holds the resource for reading, and cannot write or
	// resize.
	ErrReadOnly = errors.New("held for reading: request it for writing")
	// ErrNotified: Notify or Tell was called before for this request.
	ErrNotified = errors.New("has a notification already: call Notify once for each request")
	// ErrBroken: the resource was broken for good, see [Resource.Break]. The error also
	// matches the reason that was given.
	ErrBroken = coherence.ErrBroken
	// ErrSize: no resource can have this size.
	ErrSize = errors.New("size must be 0 or a multiple of 8")
)

// PlaceError tells what a place of a resource could not do, and why.
type PlaceError struct {
	Op       string // request, acquire, ...
	Mode     Mode
	Resource string
	Err      error // matches one of the above, or the error of a context
}

func (e *PlaceError) Error() string {
	if e.Resource == "" {
		return fmt.Sprintf("resource: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("resource: %s of %q (%s): %v", e.Op, e.Resource, e.Mode, e.Err)
}

func (e *PlaceError) Unwrap() error { return e.Err }

// reason is why a context has ended. The error matches both what contexts say and the
// cause that was given.
func reason(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

func sizeError(size int) error { return fmt.Errorf("%w, not %d", ErrSize, size) }
