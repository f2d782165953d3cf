package handle

import (
	"context"

	"github.com/orwl/go-orwl/resource"
)

// Handle is one access to a resource, from its announcement to its release:
//
//	Request ──▶ (other work) ──▶ Acquire ──▶ Read or Write ──▶ Release
//
// The zero value is ready for use. A handle serves any number of accesses, one after
// another, to any resources. One goroutine at a time uses it. Do not copy it: go vet
// reports a copy. A call in a wrong order returns a [*resource.PlaceError] and changes
// nothing.
type Handle struct {
	place resource.Place
	memo  typeMemo
	more  *more // nil for most
}

// more is what few handles have.
type more struct {
	news *news // nil: neither Ready nor Announce was called for this request
	life *life // nil: Context was not called for this grant
}

// extra is the handle's more, to be changed.
func (h *Handle) extra() *more {
	if h.more == nil {
		h.more = new(more)
	}
	return h.more
}

// Place returns the handle's request in the queue of its resource: to look at it, or to
// give it a bed or an observer.
func (h *Handle) Place() *resource.Place { return &h.place }

// Request announces an access to r and puts it into the queue of r. It never waits. The
// data may travel to this node between Request and Acquire.
func (h *Handle) Request(r *resource.Resource, m resource.Mode) error {
	if err := h.place.Request(r, m); err != nil {
		return err
	}
	h.dropNews()
	return nil
}

// RequestOrdered is Request for one of the first accesses of a program. order is its
// number among them, from 1 on: see [resource.Place.RequestOrdered].
func (h *Handle) RequestOrdered(r *resource.Resource, m resource.Mode, order int) error {
	if err := h.place.RequestOrdered(r, m, order); err != nil {
		return err
	}
	h.dropNews()
	return nil
}

// Acquire waits for the access. If ctx ends first, Acquire returns the reason, and the
// request stays in the queue: acquire again or cancel.
func (h *Handle) Acquire(ctx context.Context) error {
	if h.more != nil && h.more.news != nil {
		return h.acquireAnnounced(ctx)
	}
	return h.place.Acquire(ctx)
}

// Release ends the access. Its views and slices are no longer valid.
func (h *Handle) Release() error {
	h.endLife()
	return h.place.Release()
}

// Cancel takes the request back, granted or not.
func (h *Handle) Cancel() error {
	if err := h.place.Cancel(); err != nil {
		return err
	}
	h.dropNews()
	return nil
}

// Abandon ends the access because its work has failed, with the reason. It takes a
// request back. It releases an access that changed nothing. The changes of a writer are
// not committed, and the resource's policy says what the next ones find: see
// [resource.Place.Abandon]. A pair announces no next access.
func (h *Handle) Abandon(reason error) error {
	h.endLife()
	h.dropNews()
	return h.place.Abandon(reason)
}

// Fence is the number of the grant. It grows with every writer. A reader has the number
// of the last writer before it. A store that remembers the greatest fence can refuse
// late writes. Fence is 0 if the handle does not hold.
func (h *Handle) Fence() uint64 { return h.place.Fence() }

// Version counts the committed writes before the grant. It is 0 if the handle does not
// hold.
func (h *Handle) Version() uint64 { return h.place.Version() }

// Prior tells whether a writer before this grant failed. Its error matches
// [resource.ErrPriorHolderLost] or [resource.ErrPoisoned]. Prior is nil if the handle
// does not hold.
func (h *Handle) Prior() error { return h.place.Prior() }

// Resize changes how many bytes the resource has. size is a multiple of 8. The old bytes
// stay as far as they fit, and new bytes are zero. Earlier views are no longer valid. The
// handle must hold the resource for writing.
func (h *Handle) Resize(size int) error { return h.place.Resize(size) }

// held is the handle itself. Functions that take a Grant reach the request by it.
func (h *Handle) held() *Handle { return h }

// Grant is what can hold a resource: a *Handle or a *Pair.
type Grant interface {
	// Handle and Pair document these methods.
	Request(r *resource.Resource, m resource.Mode) error
	Acquire(ctx context.Context) error
	Test() State
	Release() error
	Cancel() error
	Abandon(reason error) error

	held() *Handle
}

// Read returns the resource's bytes as elements of type T. g must hold the resource. The
// view is valid until g releases.
func Read[T any](g Grant) (View[T], error) {
	h := g.held()
	if err := checkOnce[T](&h.memo); err != nil {
		return View[T]{}, err
	}
	b, err := h.place.Bytes()
	if err != nil {
		return View[T]{}, err
	}
	if err := checkLength[T](len(b)); err != nil {
		return View[T]{}, h.named(err)
	}
	return View[T]{elements[T](b)}, nil
}

// Write returns the resource's bytes as elements of type T, to change in place. g must
// hold the resource for writing. The slice is valid until g releases.
func Write[T any](g Grant) ([]T, error) {
	h := g.held()
	if err := checkOnce[T](&h.memo); err != nil {
		return nil, err
	}
	// After Writable a release commits a new version, so check first.
	if h.place.Held() {
		if err := checkLength[T](h.place.Size()); err != nil {
			return nil, h.named(err)
		}
	}
	b, err := h.place.Writable()
	if err != nil {
		return nil, err
	}
	return elements[T](b), nil
}

// WritePart is Write for elements low to high-1, and says that no others change, but those of
// other calls in this turn. Only these travel to other nodes. A handle that also asks for all
// by Write may change all. A part that is not there is a [*resource.RangeError], in bytes.
func WritePart[T any](g Grant, low, high int) ([]T, error) {
	h := g.held()
	if err := checkOnce[T](&h.memo); err != nil {
		return nil, err
	}
	if h.place.Held() {
		if err := checkLength[T](h.place.Size()); err != nil {
			return nil, h.named(err)
		}
	}
	b, err := h.place.WritablePart(part[T](low, high))
	if err != nil {
		return nil, err
	}
	return elements[T](b), nil
}

// named puts the resource's name into a *LengthError.
func (h *Handle) named(err error) error {
	if e, ok := err.(*LengthError); ok {
		e.Resource = h.place.Resource().Name()
	}
	return err
}
