package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

// isAsleep reports whether the place sleeps.
func (p *Place) isAsleep() bool { return p.w != nil && p.w.state() == asleep }

var errStop = errors.New("stop")

// If a context ends before or during the wait, the wait ends and the request stays.
func TestContextsThatEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause error
		want  error
		text  string
	}{
		{"without a cause", nil, context.Canceled, `resource: acquire of "grid" (write): context canceled`},
		{"with a cause", errStop, errStop, `resource: acquire of "grid" (write): context canceled: stop`},
	} {
		for _, when := range []string{"before", "during", "during, with a notice"} {
			t.Run(c.name+", "+when, func(t *testing.T) {
				defer goleak.VerifyNone(t)
				synctest.Test(t, func(t *testing.T) {
					r := newResource(t, 0)
					var first, p, behind Place
					fine(t, first.Request(r, Write))
					fine(t, first.Acquire(t.Context()))
					fine(t, p.Request(r, Write))
					fine(t, behind.Request(r, Write))
					told := 0
					if when == "during, with a notice" {
						fine(t, p.Notify(func() { told++ }))
					}
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					if when == "before" {
						cancel(c.cause)
					}
					for range 3 { // once ended, it stays so
						got := make(chan error)
						go func() { got <- p.Acquire(ctx) }()
						synctest.Wait()
						if (when != "before" && ctx.Err() == nil) != p.isAsleep() {
							t.Error("asleep: ", p.isAsleep())
						}
						cancel(c.cause)
						err := <-got
						if !errors.Is(err, c.want) || !errors.Is(err, context.Canceled) || err.Error() != c.text {
							t.Errorf("got %v, want %s", err, c.text)
						}
						if !p.Requested() || p.Held() || p.Granted() || p.Inspect(r).Granted {
							t.Errorf("requested %t, held %t, granted %t: want the request to stand", p.Requested(), p.Held(), p.Granted())
						}
					}
					got := make(chan error)
					go func() { got <- p.Acquire(t.Context()) }()
					synctest.Wait()
					if !p.isAsleep() {
						t.Error("the second acquire does not sleep")
					}
					fine(t, first.Release())
					fine(t, <-got)
					if behind.Granted() {
						t.Error("two writers are granted")
					}
					if when == "during, with a notice" && told != 1 {
						t.Errorf("told %d times", told)
					}
					fine(t, p.Release())
					if !behind.Granted() {
						t.Error("the next is not granted")
					}
				})
			})
		}
	}
}

// Acquire takes a request that is granted, even if the context has ended.
func TestGrantComesBeforeContext(t *testing.T) {
	r := newResource(t, 0)
	var first, p, q Place
	fine(t, first.Request(r, Write))
	fine(t, first.Acquire(ended()))
	fine(t, p.Request(r, Read))
	fine(t, q.Request(r, Read))
	if err := p.Acquire(ended()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	fine(t, first.Release())
	fine(t, p.Acquire(ended())) // listed before
	fine(t, q.Acquire(ended())) // never listed
}

// bed is a bed with interrupts at the test's command.
type bed struct {
	parked    func()
	up        chan struct{}
	interrupt func()
}

func (b *bed) Init(parked func()) { b.parked, b.up = parked, make(chan struct{}, 1) }

func (b *bed) ParkUntil(_ context.Context, interrupt func()) {
	b.interrupt = interrupt
	b.parked()
	<-b.up
}

func (b *bed) Unpark() { b.up <- struct{}{} }

// sleepIn makes the place wait in a bed of the test, before its first request.
func (p *Place) sleepIn(b Bed) { p.extra().bed = b }

// An interrupt may come long after its wait, whatever the place does by then.
func TestLateInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResource(t, 0)
		var holder, p Place
		b := new(bed)
		p.sleepIn(b)
		// sleep makes p wait for the holder, and wake grants its request.
		var got chan error
		ctx := t.Context()
		sleep := func() {
			fine(t, holder.Request(r, Write))
			fine(t, holder.Acquire(ctx))
			if !p.Requested() {
				fine(t, p.Request(r, Write))
			}
			got = make(chan error)
			go func() { got <- p.Acquire(ctx) }()
			synctest.Wait()
			if !p.isAsleep() {
				t.Fatal("does not sleep")
			}
		}
		wake := func() {
			fine(t, holder.Release())
			fine(t, <-got)
		}
		sleep()
		late := b.interrupt
		wake()
		late() // held
		fine(t, p.Release())
		late() // idle
		if p.Held() || p.Requested() {
			t.Error("an interrupt of an idle place does something")
		}
		sleep()
		late()
		synctest.Wait()
		if !p.isAsleep() || p.Granted() {
			t.Error("an interrupt that is not of this wait ends it")
		}
		late()
		wake()
		fine(t, p.Release())
		// Here p is listed, and not asleep.
		fine(t, holder.Request(r, Write))
		fine(t, holder.Acquire(ctx))
		fine(t, p.Request(r, Write))
		told := 0
		fine(t, p.Notify(func() { told++ }))
		late()
		if s := p.w.word.Load() & flags; s != roused|hooked {
			t.Errorf("state %d, want it roused, with its hook", s)
		}
		late()
		got = make(chan error)
		go func() { got <- p.Acquire(ctx) }()
		synctest.Wait()
		if !p.isAsleep() {
			t.Error("does not sleep after an interrupt that came before")
		}
		wake()
		if told != 1 {
			t.Errorf("told %d times", told)
		}
		fine(t, p.Release())
		// Here p is roused, and granted before it goes on; or roused and cancelled.
		fine(t, holder.Request(r, Write))
		fine(t, p.Request(r, Write))
		fine(t, p.Notify(func() { told++ }))
		late()
		fine(t, holder.Acquire(ctx))
		fine(t, holder.Release())
		if told != 2 || !p.Granted() {
			t.Errorf("told %d times, granted: %t", told, p.Granted())
		}
		fine(t, p.Acquire(ended()))
		fine(t, p.Release())
		fine(t, holder.Request(r, Write))
		fine(t, p.Request(r, Write))
		fine(t, p.Notify(func() { t.Error("told of a request that was taken back") }))
		late()
		gone := p.w
		fine(t, p.Cancel())
		late()
		if s := gone.word.Load() & flags; s != ghost|hooked {
			t.Errorf("state %d, want a ghost", s)
		}
		fine(t, holder.Acquire(ctx))
		fine(t, holder.Release())
		if q, c := r.requested.Load(), r.completed.Load(); q != c {
			t.Errorf("%#x requested, %#x completed", q, c)
		}
	})
}

// A place that was cancelled while it was listed gets a new waiter.
func TestCancelledPlaceWaitsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResource(t, 0)
		var holder, p Place
		fine(t, holder.Request(r, Write))
		fine(t, holder.Acquire(t.Context()))
		var ghosts []*waiter
		for range 3 {
			fine(t, p.Request(r, Write))
			if err := p.Acquire(ended()); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			ghosts = append(ghosts, p.w)
			fine(t, p.Cancel())
		}
		fine(t, p.Request(r, Write))
		got := make(chan error)
		go func() { got <- p.Acquire(t.Context()) }()
		synctest.Wait()
		for _, g := range ghosts {
			if p.w == g {
				t.Error("waits as a ghost")
			}
		}
		fine(t, holder.Release())
		fine(t, <-got)
	})
}

// An observer is told of an Acquire that is going to wait.
func TestObserverHearsWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResource(t, 0)
		var holder Place
		g := new(visitor)
		g.Observe(seer{&g.seen}, AllOrdered)
		fine(t, holder.Request(r, Write))
		fine(t, holder.Acquire(t.Context()))
		fine(t, g.Request(r, Write))
		got := make(chan error)
		go func() { got <- g.Acquire(t.Context()) }()
		synctest.Wait()
		fine(t, holder.Release())
		fine(t, <-got)
		if want := (sightings{requested: 1, acquired: 1, waited: 1}); g.seen != want {
			t.Errorf("observed %+v, want %+v", g.seen, want)
		}
		fine(t, g.Renew())
		fine(t, g.Acquire(t.Context()))
		if want := (sightings{requested: 2, acquired: 2, waited: 1, released: 1}); g.seen != want {
			t.Errorf("observed %+v, want %+v", g.seen, want)
		}
		g.Observe(seer{&g.seen}, 0)
		fine(t, g.Release())
		if g.seen.released != 1 {
			t.Error("observed by nobody")
		}
	})
}

// A hook has its access while it runs, also with a context that has ended.
func TestToldIsGranted(t *testing.T) {
	for _, mode := range []Mode{Read, Write} {
		synctest.Test(t, func(t *testing.T) {
			r := newResource(t, 0)
			var first, p Place
			fine(t, first.Request(r, Write))
			fine(t, first.Acquire(t.Context()))
			fine(t, p.Request(r, mode))
			told, goOn := make(chan struct{}), make(chan struct{})
			fine(t, p.Notify(func() { close(told); <-goOn }))
			if p.Granted() {
				t.Fatal("granted beside a writer")
			}
			go func() { fine(t, first.Release()) }()
			<-told
			if !p.Granted() {
				t.Errorf("%s: told and not granted", mode)
			}
			fine(t, p.Acquire(ended()))
			fine(t, p.Release())
			fine(t, p.Request(r, mode)) // with another hook
			fine(t, p.Notify(func() {}))
			fine(t, p.Cancel())
			close(goOn)
		})
	}
}
