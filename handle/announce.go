package handle

import (
	"context"
	"sync"
	"time"

	"github.com/orwl/go-orwl/resource"
)

// Prefetch is what an announcement has brought so far.
type Prefetch struct {
	// Here is how many of the resource's bytes need not travel any more: all, once
	// the access is granted, and before that those that were sent ahead to this node.
	// Size is how many it has, which is known once the access is granted.
	Here, Size int
	// Granted is whether it is, and After how long after the announcement that
	// was.
	Granted bool
	After   time.Duration
	// Waited is how long Acquire waited, once it has returned, and Saved how much
	// longer it would have if the access had been announced by Acquire only.
	Waited, Saved time.Duration
	// Ahead is how many bytes had come from another node since the announcement when
	// Acquire was called: what did not have to be waited for.
	Ahead int
}

// Announce is Request by somebody who wants to know what it brings: see Prefetch.
// now is the clock that is to be read; when the access is granted, that is done
// by whoever grants it.
func (h *Handle) Announce(r *resource.Resource, m resource.Mode, now func() time.Time) error {
	if err := h.place.Request(r, m); err != nil {
		return err
	}
	return h.hear(now)
}

// hear makes news of the request.
func (h *Handle) hear(now func() time.Time) error {
	n := &news{now: now, readied: make(chan struct{})}
	if now != nil {
		n.announced = now()
	}
	if err := h.place.Notify(n.grant); err != nil {
		return err
	}
	h.news = n
	return nil
}

// renewNews goes on to tell of a pair's requests if it has been announced.
func (p *Pair) renewNews() error {
	now := p.news.now
	p.news = nil
	if now == nil {
		return nil
	}
	return p.hear(now)
}

// Prefetch is what the last announcement has brought; nothing if there was none
// since the last request.
func (h *Handle) Prefetch() Prefetch {
	n := h.news
	if n == nil || n.now == nil {
		return Prefetch{}
	}
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

// Ready is closed when the access is granted, for a select among several. Each
// request has a channel of its own.
func (h *Handle) Ready() (<-chan struct{}, error) {
	// The news of an access that has ended are no longer of a request.
	if h.news == nil || !h.place.Requested() && !h.place.Held() {
		if err := h.hear(nil); err != nil {
			return nil, err
		}
	}
	return h.news.readied, nil
}

// news is what is known of a request that somebody wants to hear of. What others
// than the handle's owner touch is behind mu.
type news struct {
	now       func() time.Time // nil: time does not matter
	announced time.Time
	readied   chan struct{}

	mu            sync.Mutex
	granted       bool
	at            time.Time
	ahead         int
	waited, saved time.Duration
}

// grant is called by whoever grants the access.
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
	n := h.news
	if n.now == nil {
		return h.place.Acquire(ctx)
	}
	called := n.now()
	_, ahead := h.place.Here()
	if err := h.place.Acquire(ctx); err != nil {
		return err
	}
	<-n.readied // the goroutine that has granted the access is about to tell when
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ahead = ahead
	n.waited = max(0, n.at.Sub(called))
	n.saved = n.at.Sub(n.announced) - n.waited
	return nil
}
