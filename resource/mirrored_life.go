package resource

import (
	"errors"
	"fmt"
)

// join begins a new life if the last one is over, and the home is there.
func (f *mirrored) join() error {
	over := f.mirror.Over()
	switch {
	case f.away != nil:
		return f.away
	case over != nil && errors.Is(over, ErrBroken):
		return over
	case f.uses > 0: // they may still use the bytes
		return fmt.Errorf("%w: accesses of this node that are over have to be released first: %d", ErrStale, f.uses)
	case over == nil:
		return nil
	}
	return f.rejoin()
}

// rejoin begins a new life. Accesses of the last one may still use the bytes, which
// is why nothing is requested before they are released.
func (f *mirrored) rejoin() error {
	f.life++
	f.r.changes = nil // some of it may never have come to the home
	return f.mirror.Rejoin(f.site.life(f.life), max(f.epoch, f.mirror.o.Epoch))
}

// lost says that the home is, or may take this node for lost soon.
func (f *mirrored) lost(why error) {
	f.mu.Lock()
	defer f.unlock()
	if f.away != nil {
		return
	}
	f.away = fmt.Errorf("%w: %w", ErrLost, why)
	f.mirror.Lost(f.away)
	f.early.clear(f.site, f.home)
}

// back says that the home is there again, perhaps as one that knows nothing.
func (f *mirrored) back(anew bool) {
	f.mu.Lock()
	defer f.unlock()
	f.away = nil
	if anew {
		f.mirror.forget()
	}
}

// breakDown wakes everybody, after the resource was broken.
func (f *mirrored) breakDown() {
	f.mu.Lock()
	defer f.unlock()
	for id, r := range f.mirror.requests {
		f.rouse(id, &r)
	}
}

func (f *mirrored) isBroken() bool { return f.r.completed.Load()&broken != 0 }

// rouse has a request's place woken.
func (f *mirrored) rouse(id ID, r *place) {
	if r.w != nil && r.stage != leaving {
		r.w.next, f.wake = f.wake, r.w
		r.w = nil
		f.mirror.requests[id] = *r
	}
}
