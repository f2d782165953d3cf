package handle

import (
	"context"

	"github.com/orwl/go-orwl/resource"
)

// Handle is one access to a resource, from the moment at which it is announced
// until it is released:
//
//	Request ──▶ (something else) ──▶ Acquire ──▶ Read or Write ──▶ Release
//
// The zero value is ready for use, any number of times, for whatever resource. A
// handle is used by one goroutine at a time and must not be copied. What is done
// in an order that makes no sense is a [*resource.PlaceError] and changes nothing.
type Handle struct {
	place resource.Place
	memo  typeMemo
	news  *news // nil until somebody wants to hear of the grant
	life  *life // nil until somebody wants a context of it
}

// Place is the handle's place in the queue of its resource, for who wants to look
// at it or to bring a bed or an observer.
func (h *Handle) Place() *resource.Place { return &h.place }

// Request announces an access to r, and queues for it. It never waits: between
// here and Acquire, data may already travel.
func (h *Handle) Request(r *resource.Resource, m resource.Mode) error {
	if err := h.place.Request(r, m); err != nil {
		return err
	}
	h.news = nil
	return nil
}

// RequestOrdered is Request of an access that is one of a program's first, where
// order is one more than its place among them: see [resource.Place.RequestOrdered].
func (h *Handle) RequestOrdered(r *resource.Resource, m resource.Mode, order uint64) error {
	if err := h.place.RequestOrdered(r, m, order); err != nil {
		return err
	}
	h.news = nil
	return nil
}

// Test reports whether Acquire would return at once.
func (h *Handle) Test() bool { return h.place.Granted() }

// Acquire waits for the access. If ctx ends before, it returns why; the request
// then still stands, to acquire it again or to cancel it.
func (h *Handle) Acquire(ctx context.Context) error {
	if h.news != nil {
		return h.acquireAnnounced(ctx)
	}
	return h.place.Acquire(ctx)
}

// Release ends the access. Whatever was mapped is no longer valid.
func (h *Handle) Release() error {
	h.endLife()
	return h.place.Release()
}

// Cancel takes the announcement back. It does not matter whether it was granted.
func (h *Handle) Cancel() error {
	if err := h.place.Cancel(); err != nil {
		return err
	}
	h.news = nil
	return nil
}

// Abandon ends the access because its work has failed, with the reason. It takes a
// request back. It releases an access that changed nothing. The changes of a writer are
// not committed, and the resource's policy says what the next ones find: see
// [resource.Place.Abandon]. A pair announces no next access.
func (h *Handle) Abandon(reason error) error {
	h.endLife()
	h.news = nil
	return h.place.Abandon(reason)
}

// Fence is the number of the grant, zero if the handle does not hold: it grows
// with every writer, and readers have that of the last writer before them. A
// store that remembers the greatest it has seen can refuse who comes late.
func (h *Handle) Fence() uint64 { return h.place.Fence() }

// Version is how often the resource had been written when it was granted, zero if
// the handle does not hold.
func (h *Handle) Version() uint64 { return h.place.Version() }

// Prior is what became of a writer before the grant: nil, or what matches
// [resource.ErrPriorHolderLost] or [resource.ErrPoisoned]. Nil if the handle does
// not hold.
func (h *Handle) Prior() error { return h.place.Prior() }

// Resize changes how many bytes the resource has, a multiple of 8. What there is
// of the old ones is kept, new ones are zero, and views from before are no longer
// valid. The handle must hold for writing.
func (h *Handle) Resize(size int) error { return h.place.Resize(size) }

// held is for functions that take a Handle or a Pair.
func (h *Handle) held() *Handle { return h }

// Grant is what can hold a resource: a *Handle or a *Pair.
type Grant interface {
	// Handle and Pair document these methods.
	Acquire(ctx context.Context) error
	Test() bool
	Release() error
	Cancel() error
	Abandon(reason error) error

	held() *Handle
}

// Read is the resource's bytes as elements of type T. The handle must hold it,
// and the view is valid until it releases.
func Read[T any](g Grant) (View[T], error) {
	h := g.held()
	if err := checkOnce[T](&h.memo); err != nil {
		return View[T]{}, err
	}
	b, err := h.place.Bytes()
	if err != nil {
		return View[T]{}, err
	}
	return castRead[T](b)
}

// Write is the resource's bytes as elements of type T, to be changed in place. The
// handle must hold it for writing, and the slice is valid until it releases.
func Write[T any](g Grant) ([]T, error) {
	h := g.held()
	if err := checkOnce[T](&h.memo); err != nil {
		return nil, err
	}
	// What comes to nothing is to be no write.
	if h.place.Held() {
		if err := checkLength[T](h.place.Size()); err != nil {
			return nil, err
		}
	}
	b, err := h.place.Writable()
	if err != nil {
		return nil, err
	}
	return castWrite[T](b)
}
