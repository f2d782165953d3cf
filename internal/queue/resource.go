package queue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/faultpage"
	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// Resource is a lock and the bytes that it protects, kept in this process unless a
// [Site] makes it a mirror of one elsewhere. It is made by New, used through places,
// and must not be copied.
//
// A grant sees everything that a place did before the release that caused it.
//
// A step of a task uses the first three cache lines only.
type Resource struct {
	queue
	// Nil unless other nodes take part: see [Site]. The queue has a field for the home.
	mirror *mirror
	name   string

	buffer coherence.Buffer
	ledger coherence.Ledger

	initial  int                   // bytes, at the start
	elements *reflect.Type         // Options.Elements, nil for none
	poison   *poison               // nil: no writer at home has failed
	reason   atomic.Pointer[error] // why it is broken
	run      atomic.Pointer[Hold]  // nil: no run has the resource for itself
	relaxed  relaxed
}

// Options configure a resource. The zero value is a good default.
type Options struct {
	// FaultPages, if not nil, gives the resource fault pages: a view that is used
	// after the release faults. Each access that maps bytes costs some system calls.
	FaultPages *FaultPages
	// Memory, if not nil, makes the memory that the bytes lie in, size zeroed bytes at first.
	// The default is Go's heap. It excludes FaultPages.
	Memory func(size int) (Store, error)
	// Relaxed allows relaxed access to the resource, if it has a Guard.
	Relaxed RelaxedOptions
	// Elements is the type of the elements that the bytes are. Package handle then shows them as no
	// other type. nil: as any type.
	Elements reflect.Type
}

// New makes a resource of size bytes, all zero. The name is for errors and
// reports. 0 is a lock without bytes.
func New(name string, size int) (*Resource, error) { return NewWith(name, size, Options{}) }

// NewWith is New with options.
func NewWith(name string, size int, o Options) (*Resource, error) {
	r := &Resource{name: name, initial: size, elements: typeOf(o.Elements)}
	if !validSize(size) {
		return nil, fmt.Errorf("resource: %q: %w", name, sizeError(size))
	}
	if err := r.allow(o.Relaxed); err != nil {
		return nil, err
	}
	if o.Memory != nil {
		if err := r.lieIn(o, size); err != nil {
			return nil, err
		}
		return r, nil
	}
	if o.FaultPages == nil {
		r.buffer.Init(size)
		return r, nil
	}
	pages, err := o.FaultPages.NewMemory(name, size)
	if err != nil {
		return nil, fmt.Errorf("resource: %q: %w", name, err)
	}
	r.buffer.MoveTo(pages)
	return r, nil
}

// Store is memory for the bytes of a resource that its user makes: see Options.Memory. It stays
// where it is, so that a slice of it shows later contents. Only a caller that has the resource alone
// calls Resize, which keeps what fits. New bytes are zero. If it fails, nothing has changed.
type Store = coherence.Store

// lieIn makes the bytes lie in the memory that the options make.
func (r *Resource) lieIn(o Options, size int) error {
	if o.FaultPages != nil {
		return fmt.Errorf("resource: %q: Options.Memory and Options.FaultPages are both set: want one of them", r.name)
	}
	s, err := o.Memory(size)
	if err == nil && len(s.Bytes()) != size {
		err = fmt.Errorf("Options.Memory made %d bytes, want %d", len(s.Bytes()), size)
	}
	if err != nil {
		return fmt.Errorf("resource: %q: %w", r.name, err)
	}
	r.buffer.MoveTo(s)
	return nil
}

// Close frees fault pages. Do not use the resource or a view of it afterwards.
func (r *Resource) Close() error {
	if r.pages() == nil {
		return nil
	}
	return r.pages().Close()
}

// pages are the fault pages, or nil.
func (r *Resource) pages() *faultpage.Memory {
	pages, _ := r.buffer.Store().(*faultpage.Memory)
	return pages
}

// Name is the name given to New.
func (r *Resource) Name() string { return r.name }

// InitialSize is the number of bytes at the start. Only a place that holds the resource
// knows the current size.
func (r *Resource) InitialSize() int { return r.initial }

// Elements is the type of the elements, nil if the bytes may be any: see [Options].
func (r *Resource) Elements() reflect.Type {
	if r.elements == nil {
		return nil
	}
	return *r.elements
}

// Break breaks the resource for good: every waiting or later request gets ErrBroken and
// the reason. A holder may still release, which grants nothing. Only the first reason
// counts.
func (r *Resource) Break(reason error) {
	if !r.reason.CompareAndSwap(nil, &reason) {
		return
	}
	r.breakDown()
	if g := r.guard.Load(); g != nil {
		g.abandon()
	}
	if r.mirror != nil {
		r.mirror.breakDown()
	} else if r.home != nil {
		r.home.poke()
	}
}

// brokenError is the error of a resource that is broken.
func (r *Resource) brokenError() error {
	// Break stores the reason before it sets the flag.
	return fmt.Errorf("%w: %w", ErrBroken, *r.reason.Load())
}

// typeOf is a place for a type: few resources know the type of their elements.
func typeOf(t reflect.Type) *reflect.Type {
	if t == nil {
		return nil
	}
	return &t
}

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
