package handle

import (
	"context"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

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
