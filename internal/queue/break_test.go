package queue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

var errFire = errors.New("the server is on fire")

// Break reaches holders, ghosts, requests with a notification, and waiters: asleep,
// listed or neither, in near and far lists.
func TestBreak(t *testing.T) {
	for _, writers := range []int{1, 4, 5, 40} {
		defer goleak.VerifyNone(t)
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			r := newResource(t, 8)
			var holder Place
			fine(t, holder.Request(r, Write))
			fine(t, holder.Acquire(ctx))
			places := make([]Place, 5*writers)
			told := 0
			var all sync.WaitGroup
			for i := range places {
				p := &places[i]
				fine(t, p.Request(r, Mode(i/5%2)^1))
				switch i % 5 {
				case 0:
					all.Go(func() {
						err := p.Acquire(ctx)
						if want := `resource: acquire of "grid" (` + p.Mode().String() + `): resource is broken: the server is on fire`; err == nil || err.Error() != want {
							t.Errorf("place %d: %v, want %s", i, err, want)
						}
					})
				case 1:
					if err := p.Acquire(ended()); !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				case 2:
					fine(t, p.Notify(func() { told++ }))
				case 3:
					fine(t, p.Notify(func() { t.Error("told of a ghost") }))
					fine(t, p.Cancel())
				}
			}
			synctest.Wait()
			r.Break(errFire)
			r.Break(errStop)
			all.Wait()
			if told != writers {
				t.Errorf("%d were told, want %d", told, writers)
			}
			for i := range places {
				p := &places[i]
				if i%5 == 3 {
					fine(t, p.Request(r, Write)) // later comers
				}
				for range 2 {
					err := p.Acquire(ctx)
					if !errors.Is(err, ErrBroken) || !errors.Is(err, errFire) || errors.Is(err, errStop) {
						t.Errorf("place %d: %v", i, err)
					}
				}
				if !p.Requested() || p.Held() || !p.Granted() || p.Size() != 0 {
					t.Errorf("place %d: requested %t, held %t, tests as granted %t, %d bytes", i, p.Requested(), p.Held(), p.Granted(), p.Size())
				}
			}
			// The holder goes on undisturbed.
			b, err := holder.Writable()
			if err != nil || len(b) != 8 || holder.Fence() != 1 {
				t.Errorf("%d bytes, %v, fence %d", len(b), err, holder.Fence())
			}
			fine(t, holder.Renew())
			if err := holder.Acquire(ctx); !errors.Is(err, ErrBroken) {
				t.Error(err)
			}
			fine(t, holder.Cancel())
			for i := range places {
				fine(t, places[i].Cancel())
			}
			if q, c := r.requested.Load(), r.completed.Load(); q != c&^flags {
				t.Errorf("%#x requested, %#x completed", q, c)
			}
			if n := r.waiting(); n != 0 {
				t.Errorf("%d still wait", n)
			}
		})
	}
}

// Nothing is granted afterwards, whatever the counts say.
func TestBrokenIsForEver(t *testing.T) {
	for _, m := range []Mode{Read, Write} {
		r := newResource(t, 0)
		var before, p Place
		fine(t, before.Request(r, m))
		r.Break(errFire)
		for _, p := range []*Place{&before, &p} {
			if !p.Requested() {
				fine(t, p.Request(r, m))
			}
			if err := p.Acquire(t.Context()); !errors.Is(err, ErrBroken) {
				t.Errorf("%v: %v", m, err)
			}
			if r.ledger.Fence() != 0 {
				t.Error("a grant was counted")
			}
			fine(t, p.Cancel())
		}
	}
}

// Size returns 0 for a broken resource while a writer resizes it.
func TestSizeWhileAWriterResizes(t *testing.T) {
	r := newResource(t, 8)
	var holder, p Place
	fine(t, holder.Request(r, Write))
	fine(t, holder.Acquire(t.Context()))
	fine(t, p.Request(r, Read))
	r.Break(errFire)
	var all sync.WaitGroup
	all.Go(func() { fine(t, holder.Resize(64)) })
	all.Go(func() {
		if n := p.Size(); n != 0 {
			t.Errorf("%d bytes", n)
		}
	})
	all.Wait()
}
