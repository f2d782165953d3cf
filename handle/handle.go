package handle

import (
	"context"
	"iter"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

// Handle is one access to a resource, from its announcement to its release:
//
//	Request ──▶ (other work) ──▶ Acquire ──▶ Read or Write ──▶ Release
//
// The zero value is ready for use. A handle serves any number of accesses, one after
// another, to any resources. One goroutine at a time uses it. Do not copy it: go vet
// reports a copy. A call in a wrong order returns an error and changes
// nothing.
type Handle struct {
	place queue.Place
	memo  typed.Memo
	news  *news // nil: Announce was not called for this request
}

// Request announces an access to r and puts it into the queue of r. It never waits. The
// data may travel to this node between Request and Acquire.
func (h *Handle) Request(r *resource.Resource, m resource.Mode) error {
	if err := h.place.Request((*queue.Resource)(r), m); err != nil {
		return err
	}
	h.memo, h.news = typed.Memo{}, nil
	return nil
}

// Acquire waits for the access. If ctx ends first, Acquire returns the reason, and the
// request stays in the queue: acquire again or cancel.
func (h *Handle) Acquire(ctx context.Context) error {
	if h.news != nil {
		return h.acquireAnnounced(ctx)
	}
	return h.place.Acquire(ctx)
}

// Test reports whether Acquire would return at once. It does not wait. The requests behind a granted one wait until it is
// acquired and released, or cancelled.
func (h *Handle) Test() bool { return h.place.Held() || h.place.Granted() }

// Release ends the access. Its views and slices are no longer valid.
func (h *Handle) Release() error { return h.place.Release() }

// Cancel takes the request back, granted or not.
func (h *Handle) Cancel() error {
	if err := h.place.Cancel(); err != nil {
		return err
	}
	h.news = nil
	return nil
}

// Abandon ends the access because its work has failed, with the reason. It takes a
// request back. It releases an access that changed nothing. The changes of a writer are
// not committed. The next ones learn it by [Handle.Prior]. A pair announces no next access.
func (h *Handle) Abandon(reason error) error {
	h.news = nil
	return h.place.Abandon(reason)
}

// Prior tells whether a writer before this grant failed. Its error matches
// [resource.ErrPriorHolderLost] or [resource.ErrPoisoned]. Prior is nil if the handle
// does not hold.
func (h *Handle) Prior() error { return h.place.Prior() }

// Grant is what can hold a resource: a *Handle or a *Pair.
type Grant interface{ held() *Handle }

// held is the handle itself.
func (h *Handle) held() *Handle { return h }

// Read returns the resource's bytes as elements of type T. g must hold the resource. The view is valid until g releases.
//
// An element must mean the same in every process, whatever its bytes are. These types do: integers whose name tells their
// size, floating-point and complex numbers, and arrays and structs of them. A struct may have padding. Padding and fields
// named _ are bytes of the resource: they travel with it. But Go gives them no value, and an assignment may leave any
// bytes there.
func Read[T any](g Grant) (View[T], error) {
	h := g.held()
	v, err := typed.Read[T](&h.place, &h.memo)
	return View[T](v), err
}

// Write returns the resource's bytes as elements of type T, to change in place. g must hold the resource for writing. The
// slice is valid until g releases.
func Write[T any](g Grant) ([]T, error) {
	h := g.held()
	return typed.Write[T](&h.place, &h.memo)
}

// Pair is an access that recurs: two handles that alternate. One serves this turn, and the
// other is in the queue for the next one. Next announces the next access before it
// releases this one, so all pairs of a resource get it in turn, for ever:
//
//	p.Request(r, resource.Write)
//	for !done {
//		p.Acquire(ctx)
//		...
//		p.Next()
//	}
//	p.Cancel()
//
// # The last turn
//
// After Next the pair has a request in the resource. When its turn comes, the queue waits for
// it, however long that takes. So a pair that stops after Next must Cancel. If the last
// turn is known, end it by Release instead: it announces nothing. A loop that can be left
// early takes care of both by
//
//	defer p.Abandon(reason)
//
// which takes a request back, abandons an access that is held, and changes nothing if the
// pair is idle.
//
// If a pair is dropped with a request, the requests behind it wait for ever. In a run of
// package orwl on one node, the report of a stall shows this: a task waits behind "a handle
// of no task".
// The accesses of a task cannot be dropped, because the runtime takes them back when the
// task ends.
//
// # Both handles in one
//
// One request in the queue is enough for both handles, because only the queue can see the moment at which both are in it.
type Pair struct{ Handle }

// Next announces the next access and releases this one. No request that comes later gets
// ahead of the next access.
func (p *Pair) Next() error {
	if err := p.place.Renew(); err != nil {
		return err
	}
	return p.renewNews()
}

// View shows a resource's bytes as elements of type T, for reading. It copies no
// element. It is valid while the handle holds the resource. A copy of a View shows the
// same elements. The zero value has no elements.
//
// The bytes have the layout of T in this machine's memory. Nothing converts them for
// another machine: all nodes of a run have the same byte order.
type View[T any] typed.View[T]

// all are the elements. Their capacity is their number.
func (v View[T]) all() []T { return typed.View[T](v).Elements() }

// At returns element i. As with a slice, it panics if there is none.
func (v View[T]) At(i int) T { return v.all()[i] }

// Len is the number of elements.
func (v View[T]) Len() int { return len(v.all()) }

// All yields the elements in order, with their numbers.
func (v View[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range v.all() {
			if !yield(i, x) {
				return
			}
		}
	}
}

// Copy copies as many elements to dst as fit and returns their number. The copy stays
// valid after the release.
func (v View[T]) Copy(dst []T) int { return copy(dst, v.all()) }

// Sub returns a view of the elements i to j-1. As with a slice, it panics unless
// 0 <= i <= j <= Len.
func (v View[T]) Sub(i, j int) View[T] { return View[T](typed.ViewOn(v.all()[i:j:j])) }

// Prefetch tells what an announcement has gained so far.
type Prefetch struct {
	// Waited is how long Acquire waited. It is 0 until Acquire has returned.
	Waited time.Duration
	// Saved is the time from the announcement to the grant without the time that Acquire waited. It is how much
	// longer Acquire would have waited without the announcement, if the grant takes as long. It may take less then:
	// bytes travel faster while nothing else is done.
	Saved time.Duration
}

// Announce is Request with measurements: [Handle.Prefetch] returns them. Request announces
// the access, too, and gains as much. now is the clock, such as time.Now. The goroutine that
// grants the access reads it too.
func (h *Handle) Announce(r *resource.Resource, m resource.Mode, now func() time.Time) error {
	if err := h.place.Request((*queue.Resource)(r), m); err != nil {
		return err
	}
	h.memo = typed.Memo{}
	return h.hear(now)
}

// hear begins to measure the request.
func (h *Handle) hear(now func() time.Time) error {
	n := &news{now: now, announced: now(), granted: make(chan struct{})}
	if err := h.place.Notify(n.grant); err != nil {
		return err
	}
	h.news = n
	return nil
}

// renewNews measures the next request of a pair too, if the pair was announced.
func (h *Handle) renewNews() error {
	if h.news == nil {
		return nil
	}
	now := h.news.now
	h.news = nil
	return h.hear(now)
}

// Prefetch returns the measurements of the last request. It fetches nothing. The times stay
// until the next request, also after Release. All is zero after Request instead of Announce.
func (h *Handle) Prefetch() Prefetch {
	if h.news == nil {
		return Prefetch{}
	}
	return h.news.took
}

// news is what Prefetch knows of a request.
type news struct {
	now       func() time.Time
	announced time.Time
	at        time.Time     // of the grant
	granted   chan struct{} // closed after that
	took      Prefetch
}

// grant notes the grant. The goroutine that grants the access calls it.
func (n *news) grant() {
	n.at = n.now()
	close(n.granted)
}

// acquireAnnounced is Acquire of a handle that has news.
func (h *Handle) acquireAnnounced(ctx context.Context) error {
	n := h.news
	called := n.now()
	if err := h.place.Acquire(ctx); err != nil {
		return err
	}
	<-n.granted // the granting goroutine is about to close it
	n.took.Waited = max(0, n.at.Sub(called))
	n.took.Saved = n.at.Sub(n.announced) - n.took.Waited
	return nil
}
