package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// told records what an observer is told.
type told struct {
	what []string
	held bool // when Releasing came
}

func (o *told) Observe(e Event) {
	what := e.Kind.String()
	switch e.Kind {
	case Releasing:
		o.held = e.Place.Held()
	case Arrived:
		what += fmt.Sprint(" ", e.Bytes)
	case Failed, RelaxedFailed:
		what += fmt.Sprint(" ", errors.Is(e.Err, ErrBroken))
	}
	o.what = append(o.what, what)
}

func (o *told) take() (what []string) { what, o.what = o.what, nil; return what }

func (o *told) is(t *testing.T, want ...string) {
	t.Helper()
	if got := o.take(); !slices.Equal(got, want) {
		t.Errorf("told of %q, want %q", got, want)
	}
}

// Observers are told before a release, and of failures, and each only of the kinds that
// it asked for.
func TestObserve(t *testing.T) {
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
	p.Observe(o, AllOrdered)
	do(p.Request(r, Write))
	do(p.Acquire(ctx))
	do(p.Renew())
	if !o.held {
		t.Error("Releasing came after the release")
	}
	o.is(t, "requested", "acquired", "releasing", "requested", "released")

	p.Observe(o, Acquired|Releasing)
	do(p.Acquire(ctx))
	do(p.Renew())
	o.is(t, "acquired", "releasing")
	p.Observe(o, AllOrdered)
	do(p.Acquire(ctx))
	o.is(t, "acquired")
	if err := p.Acquire(ctx); !errors.Is(err, ErrHeld) {
		t.Fatal(err)
	}
	o.is(t) // misuse is not reported
	do(p.Release())
	o.is(t, "releasing", "released")

	// Another observer does not change what the first one hears.
	other := new(told)
	p.Observe(other, Released)
	p.Observe(o, Requested)
	do(p.Request(r, Write))
	do(p.Acquire(ctx))
	do(p.Release())
	o.is(t, "requested")
	other.is(t, "released")
	p.Observe(other, 0)
	p.Observe(o, AllOrdered&^Releasing)
	do(p.Request(r, Write))
	do(p.Acquire(ctx))
	do(p.Release())
	o.is(t, "requested", "acquired", "released")
	other.is(t)

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
	if err := p.Acquire(ctx); !errors.Is(err, ErrBroken) || r.Inspect().Broken == nil {
		t.Fatal(err)
	}
	do(p.Cancel())
	o.is(t, "requested", "withdrawn", "requested", "failed true", "withdrawn")
	p.Observe(o, 0)
	do(before.Cancel())
}

// restless changes its kinds at each event of the place's own goroutine.
type restless struct {
	p   *Place
	odd bool
}

func (o *restless) Observe(e Event) {
	if e.Kind&(Arrived|GrantedFar) == 0 {
		o.odd = !o.odd
		if o.odd {
			o.p.Observe(o, AllOrdered&^GrantedFar)
		} else {
			o.p.Observe(o, AllOrdered)
		}
	}
}

// The observers of a place on another node are told of bytes that come ahead of the grant
// and with it, and of the grant itself, while one of them changes its kinds.
func TestObserveFar(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	at := n.share(t, "x", 16, 0, Options{})
	var reads, writes, far Place
	var l, near told
	far.Observe(&l, AllOrdered)
	far.Observe(&restless{p: &far}, AllOrdered)
	writes.Observe(&near, AllOrdered)
	fine(t, writes.Request(at[0], Write))
	fine(t, writes.Acquire(context.Background()))
	_, err := writes.Writable()
	fine(t, err)
	fine(t, writes.Renew())
	fine(t, writes.Cancel())
	near.is(t, "requested", "acquired", "releasing", "requested", "released", "withdrawn")

	// The bytes come with the grant.
	fine(t, reads.Request(at[0], Read))
	fine(t, reads.Acquire(context.Background()))
	fine(t, far.Request(at[1], Write))
	n.settle(t)
	l.is(t, "requested")
	fine(t, reads.Release())
	n.settle(t)
	fine(t, far.Acquire(context.Background()))
	fine(t, far.Release())
	n.settle(t)
	l.is(t, "arrived 16", "granted far", "acquired", "releasing", "released")
}

// Observers of a resource are told of its relaxed accesses, each by its number.
func TestObserveRelaxed(t *testing.T) {
	ctx := context.Background()
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	var o numbered
	r.Observe(&o, AllRelaxed)
	var other numbered
	r.Observe(&other, RelaxedReleased)
	out, err := r.Relaxed(ctx, Write)
	fine(t, err)
	waits := make(chan error)
	o.waits = make(chan struct{})
	go func() { waits <- r.ReadRelaxed(ctx, func([]byte) error { return nil }) }()
	<-o.waits
	out.Leave()
	fine(t, <-waits)
	r.Break(errStop)
	if _, err := r.Relaxed(ctx, Read); !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
	want := []string{"1 write relaxed acquired", "1 write relaxed released", "2 read relaxed acquired", "2 read relaxed released", "2 read relaxed waiting", "3 read relaxed failed"}
	slices.Sort(o.what)
	if !slices.Equal(o.what, want) {
		t.Errorf("told of %q, want %q", o.what, want)
	}
	if len(other.what) != 2 {
		t.Errorf("another observer is told of %q, want two releases", other.what)
	}
}

// numbered records what it is told of relaxed accesses.
type numbered struct {
	mu    sync.Mutex
	what  []string
	waits chan struct{} // closed when one waits
}

func (o *numbered) Observe(e Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.what = append(o.what, fmt.Sprint(e.Relaxed, " ", e.Mode, " ", e.Kind))
	if e.Kind == RelaxedWaiting {
		close(o.waits)
	}
}

// A relaxed access with an observer allocates nothing.
func TestRelaxedEventsAllocateNothing(t *testing.T) {
	needsOrdinaryBuild(t)
	ctx := context.Background()
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	r.Observe(new(counting), AllRelaxed)
	fine(t, r.Open(ctx))
	if n := testing.AllocsPerRun(100, func() {
		in, err := r.Relaxed(ctx, Write)
		fine(t, err)
		in.Leave()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// counting counts events.
type counting struct{ n int }

func (c *counting) Observe(Event) { c.n++ }
