package resource

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// told records the calls of an observer.
type told struct {
	what []string
	held bool // when Releasing came
}

func (o *told) note(what string)           { o.what = append(o.what, what) }
func (o *told) Requested(*Place)           { o.note("requested") }
func (o *told) Waiting(*Place)             { o.note("waiting") }
func (o *told) Acquired(*Place)            { o.note("acquired") }
func (o *told) Releasing(p *Place)         { o.note("releasing"); o.held = p.Held() }
func (o *told) Released(*Place)            { o.note("released") }
func (o *told) Cancelled(*Place)           { o.note("cancelled") }
func (o *told) Failed(_ *Place, err error) { o.note("failed") }
func (o *told) take() (what []string)      { what, o.what = o.what, nil; return what }
func (o *told) is(t *testing.T, want ...string) {
	t.Helper()
	if got := o.take(); !slices.Equal(got, want) {
		t.Errorf("told of %v, want %v", got, want)
	}
}

// Observers are told before a release, and of failures, and only of the events that
// they asked for.
func TestCapabilities(t *testing.T) {
	ctx := context.Background()
	r, err := New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var p Place
	o := new(told)
	p.Observe(o)
	do(p.Request(r, Write))
	do(p.Acquire(ctx))
	do(p.Renew())
	if !o.held {
		t.Error("Releasing came after the release")
	}
	o.is(t, "requested", "acquired", "releasing", "requested", "released")

	p.Hear(o, Acquisitions)
	do(p.Acquire(ctx))
	do(p.Renew())
	o.is(t, "acquired", "releasing")
	p.Hear(new(told), Requests) // which is none of its business
	do(p.Acquire(ctx))
	o.is(t, "acquired")
	p.Hear(o, Requests|Waits|Acquisitions|Releases)
	if err := p.Acquire(ctx); !errors.Is(err, ErrHeld) {
		t.Fatal(err)
	}
	o.is(t) // misuse is not reported
	do(p.Release())
	o.is(t, "releasing", "released")

	// Several observers hear all, whatever one of them asks for.
	other := new(told)
	p.Observe(Observers{o, other})
	p.Hear(o, 0)
	do(p.Request(r, Write))
	do(p.Acquire(ctx))
	do(p.Release())
	o.is(t, "requested", "acquired", "releasing", "released")
	other.is(t, "requested", "acquired", "releasing", "released")

	do(p.Request(r, Write))
	over, end := context.WithCancel(ctx)
	var before Place
	do(p.Cancel())
	do(before.Request(r, Write))
	do(p.Request(r, Write))
	end()
	if err := p.Acquire(over); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	r.Break(errors.New("enough"))
	if err := p.Acquire(ctx); !errors.Is(err, ErrBroken) || r.Broken() == nil {
		t.Fatal(err)
	}
	do(p.Cancel())
	o.is(t, "requested", "cancelled", "requested", "failed", "cancelled")
	p.Observe(nil)
	do(before.Cancel())
}

// Tally counts requests, and requests that are through, also where the words wrap
// around.
func TestTally(t *testing.T) {
	ctx := context.Background()
	for _, start := range []uint64{0, 5*oneReader + 7*oneWriter, ^uint64(0) &^ flags} {
		r, err := New("r", 8)
		if err != nil {
			t.Fatal(err)
		}
		r.requested.Store(start)
		r.completed.Store(start)
		before := r.Tally()
		var places [6]Place
		for i := range places {
			mode := Read
			if i%3 == 0 {
				mode = Write
			}
			if err := places[i].Request(r, mode); err != nil {
				t.Fatal(err)
			}
			if got := r.Tally().Queued(); got != i+1 {
				t.Errorf("from %#x: %d in the queue, want %d", start, got, i+1)
			}
		}
		for i := range places {
			if err := errors.Join(places[i].Acquire(ctx), places[i].Release()); err != nil {
				t.Fatal(err)
			}
			if got := r.Tally().Queued(); got != len(places)-1-i {
				t.Errorf("from %#x: %d in the queue, want %d", start, got, len(places)-1-i)
			}
		}
		after := r.Tally()
		if n := (after.Writers.Through - before.Writers.Through) & writersMask; n != 2 {
			t.Errorf("from %#x: %d writers are through, want 2", start, n)
		}
	}
	if r, _ := New("r", 0); r.Broken() != nil || r.Elsewhere() {
		t.Error("a new resource is broken, or elsewhere")
	}
}
