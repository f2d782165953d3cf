package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// The words of the package: nodes, modes, and the errors by which requests, grants,
// messages and places tell what is wrong. The protocol in internal/coherence has most of them.

// Node names a node of the run.
type Node = coherence.Node

// Mode is the requested access mode.
type Mode = coherence.Mode

const (
	// Read shares the resource with other readers.
	Read = coherence.Read
	// Write excludes all others.
	Write = coherence.Write
)

// ID names a request in a queue. The caller chooses an ID that is not in use.
type ID = coherence.ID

// The errors of requests that are named by an ID.
var (
	// ErrGranted: the request to cancel is granted.
	ErrGranted = coherence.ErrGranted
	// ErrMode: the mode is neither Read nor Write.
	ErrMode = coherence.ErrMode
)

// The errors by which a grant tells of an earlier holder.
var (
	// ErrPriorHolderLost says that a writer failed or was lost. Its write is not there.
	ErrPriorHolderLost = coherence.ErrPriorHolderLost
	// ErrPoisoned says that a writer failed or was lost, and that there was no commit
	// since. The bytes may be half written.
	ErrPoisoned = coherence.ErrPoisoned
)

// Requests and accesses end with these errors when something breaks.
var (
	// ErrLost is the end of a request by the loss of the link between mirror and home.
	ErrLost = coherence.ErrLost
	// ErrEnded is the end of a request because the home gave up this mirror.
	ErrEnded = coherence.ErrEnded
	// ErrStale is the release of an access that is over: its fence is not the
	// request's.
	ErrStale = coherence.ErrStale
	// ErrContents is a size or a range that the resource cannot have.
	ErrContents = coherence.ErrContents
)

// [Site.Deliver] returns one of these errors for a message that it does not take. The
// message has changed nothing.
var (
	// ErrReplayed is a message that was taken before: leave it at that.
	ErrReplayed = coherence.ErrReplayed
	// ErrOtherLife is a message from or for a life of the mirror that is over: leave it at
	// that.
	ErrOtherLife = coherence.ErrOtherLife
	// ErrGap is a message that came while earlier ones are missing. Close the connection,
	// and say that the node is lost.
	ErrGap = coherence.ErrGap
	// ErrMalformed is a message that no correct node sends. Do as for ErrGap.
	ErrMalformed = coherence.ErrMalformed
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
	// ErrNotified: Notify was called before for this request.
	ErrNotified = errors.New("has a notification already: call Notify once for each request")
	// ErrBroken: the resource was broken for good, see [Resource.Break]. The error also
	// matches the reason that was given.
	ErrBroken = coherence.ErrBroken
	// ErrSize: no resource can have this size.
	ErrSize = errors.New("size must be a number of bytes, 0 or more")
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

// Reason is why a context has ended. The error matches both what contexts say and the
// cause that was given.
func Reason(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

func sizeError(size int) error { return fmt.Errorf("%w, not %d", ErrSize, size) }
