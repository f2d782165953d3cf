package resource

import (
	"maps"
	"sync"
)

// losses are the functions to be called when grants are lost. Few places ask, so
// there is a mutex, and nothing at all until the first does.
type losses struct {
	mu    sync.Mutex
	lost  error // not nil once they have been called
	calls map[*Place]func(error)
}

// OnLoss has f called with the reason if the place loses what it holds before it
// releases; at once, if it has. It replaces what was given before, nil ends it,
// and whoever releases ends it.
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
	p.watches = f != nil && lost == nil
	if p.watches {
		l.calls[p] = f
	} else {
		delete(l.calls, p)
	}
	l.mu.Unlock()
	if p.far && f != nil {
		p.r.mirrored.watched(p)
	}
	// Break may have come before there was anybody to call.
	if lost == nil && p.r.reason.Load() != nil {
		p.r.lose()
	} else if lost != nil && f != nil {
		f(lost)
	}
	return nil
}

// lose calls everybody, once.
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
	p.watches = false
	l := p.r.losses.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, p)
}
