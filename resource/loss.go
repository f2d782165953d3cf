package resource

import (
	"maps"
	"sync"
)

// losses are the functions to call when grants are lost. Few places ask for this, so
// there is a mutex, and nothing at all until the first place asks.
type losses struct {
	mu    sync.Mutex
	lost  error // not nil once they have been called
	calls map[*Place]func(error)
}

// OnLoss calls f with the reason if the place loses what it holds before it releases.
// If the loss has happened already, it calls f at once. A new call replaces the
// function of the one before; nil ends it, and so does a release.
func (p *Place) OnLoss(f func(error)) error {
	if p.state.Load()&heldBit == 0 {
		return p.error("watch", ErrNotHeld)
	}
	l := p.r.losses.Load()
	for l == nil {
		p.r.losses.CompareAndSwap(nil, &losses{calls: make(map[*Place]func(error))})
		l = p.r.losses.Load()
	}
	l.mu.Lock()
	lost := l.lost
	watches := f != nil && lost == nil
	p.extra().watches = watches
	if watches {
		l.calls[p] = f
	} else {
		delete(l.calls, p)
	}
	l.mu.Unlock()
	if p.far() && f != nil {
		p.r.mirror.watched(p)
	}
	// Break may have come before the function was registered.
	if lost == nil && p.r.reason.Load() != nil {
		p.r.lose()
	} else if lost != nil && f != nil {
		f(lost)
	}
	return nil
}

// lose calls every function, once.
func (r *Resource) lose() {
	l := r.losses.Load()
	if l == nil {
		return
	}
	l.mu.Lock()
	calls := maps.Clone(l.calls)
	clear(l.calls)
	if l.lost == nil {
		l.lost = r.brokenError()
	}
	lost := l.lost
	l.mu.Unlock()
	for _, f := range calls {
		f(lost)
	}
}

// unwatch ends what OnLoss began.
func (p *Place) unwatch() {
	p.x.watches = false
	l := p.r.losses.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, p)
}
