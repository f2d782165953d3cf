package handle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/resource"
)

// holder is a handle that holds r for writing.
func holder(t testing.TB, r *resource.Resource) *Handle {
	t.Helper()
	h := new(Handle)
	fine(t, h.Request(r, resource.Write))
	fine(t, h.Acquire(context.Background()))
	return h
}

// after calls do after d of the bubble's time. The channel is closed when do returns.
func after(d time.Duration, do func()) (done <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		<-time.After(d)
		do()
	}()
	return over
}

// Prefetch measures to the second. Each access is announced at 0, granted at one time
// and acquired at another.
func TestPrefetch(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name               string
		granted, called    time.Duration
		atGrant, atAcquire Prefetch
	}{
		{"at once", 0, 3 * s, Prefetch{16, 16, true, 0, 0, 0, 0}, Prefetch{16, 16, true, 0, 0, 0, 0}},
		{"while something else is done", 2 * s, 5 * s, Prefetch{16, 16, true, 2 * s, 0, 0, 0}, Prefetch{16, 16, true, 2 * s, 0, 2 * s, 0}},
		{"as it is acquired", 4 * s, 4 * s, Prefetch{16, 16, true, 4 * s, 0, 0, 0}, Prefetch{16, 16, true, 4 * s, 0, 4 * s, 0}},
		{"while it waits", 7 * s, 3 * s, Prefetch{}, Prefetch{16, 16, true, 7 * s, 4 * s, 3 * s, 0}},
		{"waited for from the beginning", 7 * s, 0, Prefetch{}, Prefetch{16, 16, true, 7 * s, 7 * s, 0, 0}},
	} {
		for _, asked := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newResource(t, 16)
					var h Handle
					if c.granted > 0 {
						first := holder(t, r)
						after(c.granted, func() { fine(t, first.Release()) })
					}
					fine(t, h.Announce(r, resource.Read, time.Now))
					if asked {
						ready, err := h.Ready()
						fine(t, err)
						begin := time.Now()
						go func() {
							<-ready
							if d := time.Since(begin); d != c.granted {
								t.Errorf("ready after %v, want %v", d, c.granted)
							}
						}()
					}
					if c.granted > 0 {
						if got := h.Prefetch(); got != (Prefetch{}) {
							t.Errorf("prefetched %+v before the grant", got)
						}
					}
					<-time.After(c.called)
					synctest.Wait()
					if got := h.Prefetch(); got != c.atGrant {
						t.Errorf("before the acquire: %+v, want %+v", got, c.atGrant)
					}
					fine(t, h.Acquire(t.Context()))
					<-time.After(s)
					if got := h.Prefetch(); got != c.atAcquire {
						t.Errorf("after the acquire: %+v, want %+v", got, c.atAcquire)
					}
					// The next request is not announced.
					fine(t, h.Release())
					fine(t, h.Request(r, resource.Read))
					if got := h.Prefetch(); got != (Prefetch{}) {
						t.Errorf("prefetched %+v without an announcement", got)
					}
				})
			})
		}
	}
}

// An acquire whose context ends measures nothing. The acquire that succeeds does.
func TestPrefetchOfAnAcquireThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResource(t, 8)
		first := holder(t, r)
		var h Handle
		fine(t, h.Announce(r, resource.Write, time.Now))
		ready, err := h.Ready()
		fine(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := h.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if got := h.Prefetch(); got != (Prefetch{}) {
			t.Errorf("prefetched %+v", got)
		}
		if again, err := h.Ready(); err != nil || again != ready {
			t.Errorf("another channel, %v", err)
		}
		after(3*time.Second, func() { fine(t, first.Release()) })
		select {
		case <-ready:
			t.Error("ready before the release")
		default:
		}
		fine(t, h.Acquire(t.Context()))
		<-ready
		if got, want := h.Prefetch(), (Prefetch{8, 8, true, 5 * time.Second, 3 * time.Second, 2 * time.Second, 0}); got != want {
			t.Errorf("prefetched %+v, want %+v", got, want)
		}
		if err := h.Acquire(t.Context()); !errors.Is(err, resource.ErrHeld) {
			t.Error(err)
		}
		if got, want := h.Prefetch(), (Prefetch{8, 8, true, 5 * time.Second, 3 * time.Second, 2 * time.Second, 0}); got != want {
			t.Errorf("after an acquire that failed: %+v, want %+v", got, want)
		}
	})
}

// An announced pair measures each of its requests, from the release before it on.
func TestPairGoesOnAnnouncing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const s = time.Second
		r := newResource(t, 8)
		var p, other Pair
		fine(t, p.Announce(r, resource.Write, time.Now))
		fine(t, other.Request(r, resource.Write))
		var last <-chan struct{}
		for i := range 3 {
			fine(t, p.Acquire(t.Context()))
			fine(t, p.Next())
			ready, err := p.Ready()
			fine(t, err)
			if ready == last {
				t.Error("the channel of the last request")
			}
			last = ready
			if got := p.Prefetch(); got != (Prefetch{}) {
				t.Errorf("prefetched %+v", got)
			}
			fine(t, other.Acquire(t.Context()))
			released := after(4*s, func() { fine(t, other.Next()) })
			<-time.After(s)
			fine(t, p.Acquire(t.Context()))
			<-ready
			<-released // the release grants before it returns
			if got, want := p.Prefetch(), (Prefetch{8, 8, true, 4 * s, 3 * s, s, 0}); got != want {
				t.Errorf("round %d: %+v, want %+v", i, got, want)
			}
			// Let the other pair have its next turn.
			fine(t, p.Next())
			fine(t, other.Acquire(t.Context()))
			fine(t, other.Next())
		}
		if p.Iteration() != 6 {
			t.Errorf("iteration %d, want 6", p.Iteration())
		}
		fine(t, p.Cancel())
		if got := p.Prefetch(); got != (Prefetch{}) {
			t.Errorf("prefetched %+v after it was taken back", got)
		}
		fine(t, p.Announce(r, resource.Read, time.Now))
		if p.Iteration() != 0 {
			t.Errorf("iteration %d of a new announcement, want 0", p.Iteration())
		}
		// Ready serves one request only.
		fine(t, other.Cancel())
		fine(t, other.Request(r, resource.Read))
		first, err := other.Ready()
		fine(t, err)
		<-first
		fine(t, other.Acquire(t.Context()))
		fine(t, other.Next())
		if other.more != nil && other.more.news != nil {
			t.Error("a pair that called Ready once still has news")
		}
		if got := other.Prefetch(); got != (Prefetch{}) {
			t.Errorf("prefetched %+v without a clock", got)
		}
	})
}

// A select over several accesses receives in the order of their grants.
func TestReadyInASelect(t *testing.T) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		var handles [3]Handle
		var ready [3]<-chan struct{}
		for i := range handles {
			r := newResource(t, 8)
			first := holder(t, r)
			after(time.Duration(3-i)*time.Second, func() { fine(t, first.Release()) })
			fine(t, handles[i].Request(r, resource.Read))
			var err error
			ready[i], err = handles[i].Ready()
			fine(t, err)
		}
		begin := time.Now()
		for n := range handles {
			i := 0
			select {
			case <-ready[0]:
			case <-ready[1]:
				i = 1
			case <-ready[2]:
				i = 2
			}
			if want := 2 - n; i != want || time.Since(begin) != time.Duration(n+1)*time.Second {
				t.Errorf("handle %d is ready after %v, want %d after %d s", i, time.Since(begin), want, n+1)
			}
			ready[i] = nil
			if got := handles[i].Test(); got != Granted {
				t.Errorf("ready and %v", got)
			}
			fine(t, handles[i].Acquire(ended()))
			fine(t, handles[i].Release())
		}
	})
}

// An acquire after Ready succeeds, even while the release that grants still runs.
func TestReadyIsAPromise(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := newResource(t, 8)
	for range 300 {
		first := holder(t, r)
		var h Handle
		fine(t, h.Request(r, resource.Write))
		ready, err := h.Ready()
		fine(t, err)
		got := make(chan error)
		go func() {
			<-ready
			got <- errors.Join(h.Acquire(context.Background()), h.Release())
		}()
		fine(t, first.Release())
		fine(t, <-got)
	}
}

// Ready needs a request.
func TestReadyWithoutRequest(t *testing.T) {
	r := newResource(t, 8)
	var h Handle
	wrong := func(when string) {
		t.Helper()
		if c, err := h.Ready(); c != nil || !errors.Is(err, resource.ErrNotRequested) {
			t.Errorf("%s: %v, %v, want ErrNotRequested", when, c, err)
		}
	}
	wrong("at first")
	fine(t, h.Request(r, resource.Read))
	fine(t, h.Acquire(t.Context()))
	wrong("while held")
	fine(t, h.Release())
	fine(t, h.Announce(r, resource.Read, time.Now))
	ready, err := h.Ready()
	fine(t, err)
	<-ready
	fine(t, h.Acquire(t.Context()))
	fine(t, h.Release())
	wrong("after the release")
	if got := h.Prefetch(); !got.Granted {
		t.Errorf("prefetched %+v: a failed Ready has dropped it", got)
	}
	fine(t, h.Request(r, resource.Read))
	_, err = h.Ready()
	fine(t, err)
	fine(t, h.Cancel())
	wrong("after the cancel")
}

// A broken resource makes all requests ready, and their acquires fail.
func TestReadyOfWhatBreaks(t *testing.T) {
	r := newResource(t, 8)
	first := holder(t, r)
	var h Handle
	fine(t, h.Announce(r, resource.Write, time.Now))
	ready, err := h.Ready()
	fine(t, err)
	r.Break(errFire)
	<-ready
	if err := h.Acquire(context.Background()); !errors.Is(err, resource.ErrBroken) || !errors.Is(err, errFire) {
		t.Error(err)
	}
	if got := h.Prefetch(); got.Size != 0 || got.Waited != 0 || got.Saved != 0 {
		t.Errorf("prefetched %+v of a broken resource", got)
	}
	fine(t, h.Cancel())
	fine(t, first.Release())
}
