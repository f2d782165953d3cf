package resource

import (
	"context"
	"errors"
	"fmt"
)

// What a Place is misused for, and why an access ends without being asked to.
// Errors of this package match one of these by errors.Is, and are a *PlaceError.
var (
	// ErrRequested is a request by a place that has one already.
	ErrRequested = errors.New("requested already: acquire and release, or cancel, first")
	// ErrNotRequested is an acquire, a test or a cancel of what was not requested.
	ErrNotRequested = errors.New("not requested: request it first")
	// ErrHeld is an acquire, or a cancel, by a place that holds the resource.
	ErrHeld = errors.New("acquired already: release it first")
	// ErrNotHeld is what needs a grant that has been acquired.
	ErrNotHeld = errors.New("not acquired: acquire it first")
	// ErrReadOnly is writing, or resizing, what is held for reading.
	ErrReadOnly = errors.New("held for reading: request it for writing")
	// ErrNotified is a second notice of one request.
	ErrNotified = errors.New("is to be notified already: ask once for each request")
	// ErrBroken is an access to a resource that was broken for good: see
	// [Resource.Break]. The error also matches the reason that was given.
	ErrBroken = errors.New("resource is broken")
	// ErrSize is a size that no resource can have.
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

// reason is why a context has ended: an error that is both what contexts say, and
// the cause that was given.
func reason(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

func sizeError(size int) error { return fmt.Errorf("%w, not %d", ErrSize, size) }
