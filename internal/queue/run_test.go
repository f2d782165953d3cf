package queue

import (
	"context"
	"errors"
	"testing"
)

// joined is a resource that a run has for itself, with two places of the run.
func joined(t *testing.T, r *Resource) (h *Hold, first, second *Place) {
	t.Helper()
	h, err := NewHold(r, t, false)
	fine(t, err)
	first, second = new(Place), new(Place)
	fine(t, first.Join(h, Write))
	fine(t, second.Join(h, Read))
	fine(t, h.Take(t.Context()))
	return h, first, second
}

// A run writes and reads by turns. Each write is a version, and the resource has the last one when the run
// gives it back.
func TestHold(t *testing.T) {
	r := newResource(t, 8)
	h, w, rd := joined(t, r)
	for round := range 3 {
		fine(t, GrantAll([]*Place{w}))
		b, err := w.Writable()
		fine(t, err)
		b[0]++
		EndAll([]*Place{w}, round == 2)
		fine(t, GrantAll([]*Place{rd}))
		if b, err := rd.Bytes(); err != nil || b[0] != byte(round+1) || rd.Version() != uint64(round+1) || rd.Fence() != w.r.ledger.Fence() {
			t.Errorf("round %d: %v, %v, version %d", round, b, err, rd.Version())
		}
		EndAll([]*Place{rd}, round == 2)
	}
	var outside Place
	fine(t, outside.Request(r, Read))
	if outside.tryAcquire() || !r.Inspect().Planned {
		t.Error("somebody is let in beside the run")
	}
	h.Give()
	fine(t, outside.Acquire(t.Context()))
	if b, err := outside.Bytes(); err != nil || b[0] != 3 || r.Inspect().Planned {
		t.Errorf("%v, %v", b, err)
	}
	fine(t, outside.Release())
}

// A place of a run is refused each call that goes through the queue. The call changes nothing.
func TestPlaceOfARun(t *testing.T) {
	r := newResource(t, 8)
	h, w, rd := joined(t, r)
	refused := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	refused("join", w.Join(h, Read), ErrRequested)
	refused("acquire", w.Acquire(t.Context()), ErrPlanned)
	refused("notify", w.Notify(func() {}), ErrPlanned)
	refused("release before", w.Release(), ErrNotHeld)
	if w.tryAcquire() || w.Granted() || w.Size() != 0 {
		t.Error("it is granted by the queue")
	}
	fine(t, GrantAll([]*Place{w, rd}))
	refused("release", w.Release(), ErrPlanned)
	refused("renew", w.Renew(), ErrPlanned)
	refused("request", w.Request(r, Read), ErrRequested)
	refused("cancel", w.Cancel(), ErrHeld)
	fine(t, w.Abandon(errFire)) // it has written nothing
	EndAll([]*Place{rd}, false)
	fine(t, rd.Cancel())
	h.Give()
	free(t, r)
}

// A writer of a run that fails commits nothing, as any other.
func TestFailureInARun(t *testing.T) {
	r := newResource(t, 8)
	h, w, rd := joined(t, r)
	fine(t, GrantAll([]*Place{w}))
	b, err := w.Writable()
	fine(t, err)
	b[0] = 7
	fine(t, w.Abandon(errFire))
	fine(t, rd.Cancel())
	h.Give()
	var p Place
	fine(t, p.Request(r, Read))
	fine(t, p.Acquire(t.Context()))
	if b, _ := p.Bytes(); b[0] != 7 || !errors.Is(p.Prior(), ErrPoisoned) {
		t.Errorf("%v, %v", b, p.Prior())
	}
	fine(t, p.Release())
}

// A broken resource grants nothing to a run.
func TestBrokenInARun(t *testing.T) {
	r := newResource(t, 8)
	h, w, rd := joined(t, r)
	r.Break(errFire)
	if err := GrantAll([]*Place{w}); !errors.Is(err, ErrBroken) || !errors.Is(err, errFire) || w.Held() {
		t.Error(err)
	}
	fine(t, w.Cancel())
	fine(t, rd.Cancel())
	h.Give()
}

// A run that ends before it has a resource leaves the queue.
func TestGiveBeforeTake(t *testing.T) {
	r := newResource(t, 8)
	var before Place
	fine(t, before.Request(r, Write))
	fine(t, before.Acquire(t.Context()))
	h, err := NewHold(r, t, false)
	fine(t, err)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := h.Take(ended); !errors.Is(err, context.Canceled) || r.Inspect().Planned {
		t.Error(err)
	}
	h.Give()
	fine(t, before.Release())
	free(t, r)
}

// The numbers of a place's rounds go on where its counter begins anew.
func TestNumbersOfRounds(t *testing.T) {
	r := newResource(t, 8)
	h, w, rd := joined(t, r)
	w.state.Set(w.state.Load() | writersMask*oneWriter) // its last round before
	last := w.InspectRun(r)
	fine(t, GrantAll([]*Place{w}))
	EndAll([]*Place{w}, false)
	if next := w.InspectRun(r); !next.Requested || next.Held || next.Mode != Write || rd.InspectRun(r).Ticket != 1 || next.Ticket != 0 || next.Stamp == last.Stamp {
		t.Errorf("%+v after %+v", next, last)
	}
	fine(t, w.Cancel())
	fine(t, rd.Cancel())
	h.Give()
}

// free checks that nothing is in the queue of a resource.
func free(t *testing.T, r *Resource) {
	t.Helper()
	var p Place
	fine(t, p.Request(r, Write))
	if !p.tryAcquire() {
		t.Errorf("something is left in the queue of %q", r.name)
	}
	fine(t, p.Release())
}
