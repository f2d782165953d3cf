package handle

import (
	"context"
	"sync"
	"time"

	"github.com/orwl/go-orwl/resource"
)

// Prefetch tells what an announcement has gained so far.
type Prefetch struct {
	// Here is how many of the resource's bytes are on this node. Before the grant these
	// are the bytes that were sent ahead. After the grant it is all of them.
	Here int
	// Size is how many bytes the resource has. It is 0 before the grant.
	Size int
	// Granted tells whether the access is granted.
	Granted bool
	// After is the time from the announcement to the grant.
	After time.Duration
	// Waited is how long Acquire waited. It is 0 until Acquire has returned.
	Waited time.Duration
	// Saved is how much longer Acquire would have waited without the announcement.
	Saved time.Duration
	// Ahead is how many bytes had arrived from another node when Acquire was called.
	// Acquire did not wait for these.
	Ahead int
}

// Announce is Request with measurements: [Handle.Prefetch] returns them. now is the
// clock. The goroutine that grants the access reads it too.
func (h *Handle) Announce(r *resource.Resource, m resource.Mode, now func() time.Time) error {
	if err := h.place.Request(r, m); err != nil {
		return err
	}
	return h.hear(now)
}

// hear begins to measure the request.
func (h *Handle) hear(now func() time.Time) error {
	n := &news{now: now, readied: make(chan struct{})}
	if now != nil {
		n.announced = now()
	}
	if err := h.place.Notify(n.grant); err != nil {
		return err
	}
	h.extra().news = n
	return nil
}

// renewNews measures the next request of a pair too, if the pair was announced.
func (h *Handle) renewNews() error {
	if h.more.news == nil {
		return nil
	}
	now := h.more.news.now
	h.dropNews()
	if now == nil {
		return nil
	}
	return h.hear(now)
}

// dropNews forgets what Ready and Prefetch know of the request before.
func (h *Handle) dropNews() {
	if h.more != nil {
		h.more.news = nil
	}
}

// Prefetch returns the measurements of the current request. They are zero if it was made
// by Request instead of Announce.
func (h *Handle) Prefetch() Prefetch {
	if h.more == nil || h.more.news == nil || h.more.news.now == nil {
		return Prefetch{}
	}
	n := h.more.news
	n.mu.Lock()
	defer n.mu.Unlock()
	p := Prefetch{Granted: n.granted, Ahead: n.ahead, Waited: n.waited, Saved: n.saved}
	p.Here, _ = h.place.Here()
	if n.granted {
		p.After = n.at.Sub(n.announced)
		p.Size = h.place.Size()
	}
	return p
}

// Ready returns a channel that is closed when the access is granted. Use it in a select
// over several accesses. Each request has its own channel.
func (h *Handle) Ready() (<-chan struct{}, error) {
	// The news may still describe an access that has ended.
	if x := h.extra(); x.news == nil || !h.place.Requested() && !h.place.Held() {
		if err := h.hear(nil); err != nil {
			return nil, err
		}
	}
	return h.more.news.readied, nil
}

// news is what Ready and Prefetch know of a request. mu guards the fields that the
// granting goroutine writes.
type news struct {
	now       func() time.Time // nil: Ready asked, and needs no time
	announced time.Time
	readied   chan struct{}

	mu            sync.Mutex
	granted       bool
	at            time.Time
	ahead         int
	waited, saved time.Duration
}

// grant notes the grant. The goroutine that grants the access calls it.
func (n *news) grant() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.granted = true
	if n.now != nil {
		n.at = n.now()
	}
	close(n.readied)
}

// acquireAnnounced is Acquire of a handle that has news.
func (h *Handle) acquireAnnounced(ctx context.Context) error {
	n, called, ahead := h.more.news, time.Time{}, 0
	if n.now != nil {
		called = n.now()
		_, ahead = h.place.Here()
	}
	if err := h.place.Acquire(ctx); err != nil {
		return err
	}
	<-n.readied // the granting goroutine is about to close it
	if n.now == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ahead = ahead
	n.waited = max(0, n.at.Sub(called))
	n.saved = n.at.Sub(n.announced) - n.waited
	return nil
}
