package handle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// holder is a handle that holds r for writing.
func holder(t testing.TB, r *resource.Resource) *Handle {
	t.Helper()
	h := new(Handle)
	fine(t, h.Request(r, queue.Write))
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
		name            string
		granted, called time.Duration
		atAcquire       Prefetch
	}{
		{"at once", 0, 3 * s, Prefetch{0, 0}},
		{"while something else is done", 2 * s, 5 * s, Prefetch{0, 2 * s}},
		{"as it is acquired", 4 * s, 4 * s, Prefetch{0, 4 * s}},
		{"while it waits", 7 * s, 3 * s, Prefetch{4 * s, 3 * s}},
		{"waited for from the beginning", 7 * s, 0, Prefetch{7 * s, 0}},
	} {
		{
			t.Run(c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newResource(t, 16)
					var h Handle
					if c.granted > 0 {
						first := holder(t, r)
						after(c.granted, func() { fine(t, first.Release()) })
					}
					fine(t, h.Announce(r, queue.Read, time.Now))
					<-time.After(c.called)
					synctest.Wait()
					if got := h.Prefetch(); got != (Prefetch{}) {
						t.Errorf("before the acquire: %+v", got)
					}
					fine(t, h.Acquire(t.Context()))
					<-time.After(s)
					if got := h.Prefetch(); got != c.atAcquire {
						t.Errorf("after the acquire: %+v, want %+v", got, c.atAcquire)
					}
					// The next request is not announced.
					fine(t, h.Release())
					fine(t, h.Request(r, queue.Read))
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
		fine(t, h.Announce(r, queue.Write, time.Now))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := h.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if got := h.Prefetch(); got != (Prefetch{}) {
			t.Errorf("prefetched %+v", got)
		}
		after(3*time.Second, func() { fine(t, first.Release()) })
		fine(t, h.Acquire(t.Context()))
		if got, want := h.Prefetch(), (Prefetch{3 * time.Second, 2 * time.Second}); got != want {
			t.Errorf("prefetched %+v, want %+v", got, want)
		}
		if err := h.Acquire(t.Context()); !errors.Is(err, queue.ErrHeld) {
			t.Error(err)
		}
		if got, want := h.Prefetch(), (Prefetch{3 * time.Second, 2 * time.Second}); got != want {
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
		fine(t, p.Announce(r, queue.Write, time.Now))
		fine(t, other.Request(r, queue.Write))
		for i := range 3 {
			fine(t, p.Acquire(t.Context()))
			fine(t, p.Next())
			if got := p.Prefetch(); got != (Prefetch{}) {
				t.Errorf("prefetched %+v", got)
			}
			fine(t, other.Acquire(t.Context()))
			released := after(4*s, func() { fine(t, other.Next()) })
			<-time.After(s)
			fine(t, p.Acquire(t.Context()))
			<-released // the release grants before it returns
			if got, want := p.Prefetch(), (Prefetch{3 * s, s}); got != want {
				t.Errorf("round %d: %+v, want %+v", i, got, want)
			}
			// Let the other pair have its next turn.
			fine(t, p.Next())
			fine(t, other.Acquire(t.Context()))
			fine(t, other.Next())
		}
		fine(t, p.Cancel())
		if got := p.Prefetch(); got != (Prefetch{}) {
			t.Errorf("prefetched %+v after it was taken back", got)
		}
	})
}
