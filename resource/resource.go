package resource

import (
	"fmt"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/faultpage"
	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// Resource is a lock and the bytes that it protects, kept in this process unless a
// [Site] makes it a mirror of one elsewhere. It is made by New, used through places,
// and must not be copied.
//
// A grant sees everything that a place did before the release that caused it.
//
// What a step of a task uses stands in the first three cache lines.
type Resource struct {
	queue
	// Nil unless other nodes take part: see [Site]. The queue has a field for the home.
	mirror *mirror
	name   string

	buffer coherence.Buffer
	ledger coherence.Ledger

	initial  int                   // bytes, at the start
	confirm  bool                  // a release waits until its write is committed
	recovery *recovery             // nil: no Options.Undo, and no writer at home has failed
	reason   atomic.Pointer[error] // why it is broken
	losses   atomic.Pointer[losses]
	run      atomic.Pointer[Hold] // nil: no run has the resource for itself
	relaxed  relaxed
}

// Options configure a resource. The zero value is a good default.
type Options struct {
	// FaultPages, if not nil, gives the resource fault pages: a view that is used
	// after the release faults. Each access that maps bytes costs some system calls.
	FaultPages *FaultPages
	// Relaxed allows relaxed access to the resource, if it has a Guard.
	Relaxed RelaxedOptions
	// Policy is what the loss or the failure of a writer does. The default is Discard.
	Policy Policy
	// Undo makes the resource keep a copy of its bytes while a writer at its home
	// changes them. If the writer fails, the copy undoes its changes: see
	// [Place.Abandon]. It costs the memory of the bytes once more, and one copy of them
	// for each writing access.
	Undo bool
	// Confirm makes Release and Renew of a write wait until the home has committed it, as
	// [Place.Flush] does. On another node than the home this takes one more way there and
	// back. Only the loss of the home ends the wait early, with a [*LostWriteError].
	Confirm bool
}

// New makes a resource of size bytes, all zero. The name is for errors and
// reports. Size is a multiple of 8; 0 is a lock without bytes.
func New(name string, size int) (*Resource, error) { return NewWith(name, size, Options{}) }

// NewWith is New with options.
func NewWith(name string, size int, o Options) (*Resource, error) {
	r := &Resource{name: name, initial: size, confirm: o.Confirm}
	if !validSize(size) {
		return nil, fmt.Errorf("resource: %q: %w", name, sizeError(size))
	}
	if err := r.allow(o.Relaxed); err != nil {
		return nil, err
	}
	if o.Policy > Abort {
		return nil, fmt.Errorf("resource: %q: Options.Policy is %d: want Discard, Poison or Abort", name, o.Policy)
	}
	r.ledger.Open(o.Policy)
	if o.Undo {
		r.keepCopies()
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

// Policy is what the loss or the failure of a writer does.
func (r *Resource) Policy() Policy { return r.ledger.Policy() }

// SetPolicy replaces the policy of the resource's Options. Call it before the first
// request. It fails while a request is queued.
func (r *Resource) SetPolicy(p Policy) error {
	if p > Abort {
		return fmt.Errorf("resource: %q: policy is %d: want Discard, Poison or Abort", r.name, p)
	}
	if r.outstanding() {
		return fmt.Errorf("%w: %q", ErrUsed, r.name)
	}
	r.ledger.SetPolicy(p)
	return nil
}

// SetUndo sets the resource's Options.Undo. Call it before the first request. It fails
// while a request is queued.
func (r *Resource) SetUndo(undo bool) error {
	if r.outstanding() {
		return fmt.Errorf("%w: %q", ErrUsed, r.name)
	}
	if r.recovery = nil; undo {
		r.keepCopies()
	}
	return nil
}

// InitialSize is the number of bytes at the start. Only a place that holds the resource
// knows the current size.
func (r *Resource) InitialSize() int { return r.initial }

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
	r.lose()
}

// brokenError is the error of a resource that is broken.
func (r *Resource) brokenError() error {
	// Break stores the reason before it sets the flag.
	return fmt.Errorf("%w: %w", ErrBroken, *r.reason.Load())
}
