package epoch_test

import (
	"context"
	"testing"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
)

// TestContextDone checks that nothing begins when the context is done.
func TestContextDone(t *testing.T) {
	w := newWorld(t, 3, epoch.Options{})
	x, err := epoch.NewExposure(w.fabric)
	must(t, err)
	done, cancel := context.WithCancel(background)
	cancel()
	a := w.ranks[1]
	before := w.memory()
	for name, err := range map[string]error{
		"Fence":   a.Fence(done),
		"Post":    a.Post(done, []rma.Rank{0}),
		"Start":   a.Start(done, []rma.Rank{0}),
		"Wait":    a.Wait(done),
		"Lock":    a.Lock(done, 0, epoch.Exclusive),
		"LockAll": a.LockAll(done),
		"Expose":  second(x.Expose(done, a.Sync, make([]uint64, 1))),
	} {
		fails(t, name, err, context.Canceled)
	}
	w.unchanged("an operation whose context was done", before)
	a.costs(t, "all of them", rmatest.Count{})
	w.together(func(a *actor) error { return a.Fence(background) })
}

func second[A any](_ A, err error) error { return err }

// TestLockGivesUp interrupts a lock at each place where it waits. The rank must
// hold nothing and leave no trace.
func TestLockGivesUp(t *testing.T) {
	for _, c := range []struct {
		name string
		held func(b *actor) error
		lock func(ctx context.Context, a *actor) error
	}{
		{"shared behind exclusive",
			func(b *actor) error { return b.Lock(background, 2, epoch.Exclusive) },
			func(ctx context.Context, a *actor) error { return a.Lock(ctx, 2, epoch.Shared) }},
		{"exclusive behind exclusive",
			func(b *actor) error { return b.Lock(background, 2, epoch.Exclusive) },
			func(ctx context.Context, a *actor) error { return a.Lock(ctx, 2, epoch.Exclusive) }},
		{"exclusive behind shared",
			func(b *actor) error { return b.Lock(background, 2, epoch.Shared) },
			func(ctx context.Context, a *actor) error { return a.Lock(ctx, 2, epoch.Exclusive) }},
		{"exclusive behind all",
			func(b *actor) error { return b.LockAll(background) },
			func(ctx context.Context, a *actor) error { return a.Lock(ctx, 2, epoch.Exclusive) }},
		{"all behind exclusive",
			func(b *actor) error { return b.Lock(background, 2, epoch.Exclusive) },
			func(ctx context.Context, a *actor) error { return a.LockAll(ctx) }},
		{"second exclusive behind exclusive",
			func(b *actor) error { return b.Lock(background, 2, epoch.Exclusive) },
			func(ctx context.Context, a *actor) error { return a.Lock(ctx, 2, epoch.Exclusive) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 3, epoch.Options{})
			a, b := w.ranks[0], w.ranks[1]
			must(t, c.held(b))
			if c.name == "second exclusive behind exclusive" {
				must(t, a.Lock(background, 0, epoch.Exclusive))
			}
			before := w.memory()
			fails(t, c.name, c.lock(a.patience(), a), context.Canceled)
			w.unchanged(c.name, before)
			fails(t, "Unlock", a.Unlock(2), epoch.ErrNotOpen)
			fails(t, "UnlockAll", a.UnlockAll(), epoch.ErrNotOpen)
		})
	}
}

// TestLockAllJoins is a chain of waits: rank 0 holds LockAll, rank 1 waits for it
// with an exclusive lock, and rank 2 waits for rank 1 with LockAll. When rank 1
// gives up, rank 2 must get LockAll, although rank 0 still holds it.
func TestLockAllJoins(t *testing.T) {
	w := newWorld(t, 3, epoch.Options{})
	must(t, w.ranks[0].LockAll(background))
	ctx, giveUp := context.WithCancel(background)
	registered := make(chan struct{})
	w.ranks[1].whenItWaits(func() { close(registered) })
	w.ranks[2].whenItWaits(giveUp)
	w.together(func(a *actor) error {
		switch a.Rank() {
		case 1:
			fails(t, "Lock", a.Lock(ctx, 2, epoch.Exclusive), context.Canceled)
		case 2:
			<-registered
			return a.LockAll(background)
		}
		return nil
	})
	must(t, w.ranks[2].UnlockAll(), w.ranks[0].UnlockAll())
}

// TestFenceGoesOn interrupts a fence in each of its rounds. A fence cannot be
// withdrawn, so it must still be the same fence for all ranks.
func TestFenceGoesOn(t *testing.T) {
	w := newWorld(t, 4, epoch.Options{})
	a := w.ranks[0]
	fails(t, "Fence alone", a.Fence(a.patience()), context.Canceled)
	fails(t, "Fence alone, again", a.Fence(a.patience()), context.Canceled)
	a.costs(t, "a Fence that was interrupted twice in its first round", rmatest.Count{Put: 1, Flush: 1})
	fails(t, "Post", a.Post(background, nil), epoch.ErrOpen)
	fails(t, "Start", a.Start(background, nil), epoch.ErrOpen)
	fails(t, "Lock", a.Lock(background, 1, epoch.Shared), epoch.ErrOpen)
	fails(t, "LockAll", a.LockAll(background), epoch.ErrOpen)
	b := w.ranks[3] // signals rank 0 in the first round
	fails(t, "Fence of rank 3", b.Fence(b.patience()), context.Canceled)
	// Round 0 is over for rank 0. Its next interruption is in round 1.
	ctx := a.patience()
	if err := a.Fence(ctx); err == nil || ctx.Err() == nil {
		t.Fatalf("Fence of two of four ranks: %v", err)
	}
	for range 5 {
		w.together(func(a *actor) error { return a.Fence(background) })
	}
}

// TestStartGivesUp interrupts a Start that has found some of its group. A later
// one must find them again.
func TestStartGivesUp(t *testing.T) {
	w := newWorld(t, 4, epoch.Options{})
	a := w.ranks[0]
	must(t, w.ranks[2].Post(background, []rma.Rank{0}), w.ranks[1].Post(background, []rma.Rank{0}))
	ctx, cancel := context.WithCancel(background)
	a.whenItWaits(func() { a.whenItWaits(func() { a.whenItWaits(cancel) }) }) // at the third wait
	fails(t, "Start", a.Start(ctx, []rma.Rank{1, 2, 3}), context.Canceled)
	fails(t, "Complete", a.Complete(), epoch.ErrNotOpen)
	for _, group := range [][]rma.Rank{{1}, {2}} {
		must(t, a.Start(a.patience(), group), a.Complete(), w.ranks[group[0]].Wait(background))
	}
}

// TestWaitGoesOn interrupts a Wait.
func TestWaitGoesOn(t *testing.T) {
	w := newWorld(t, 3, epoch.Options{})
	a, b := w.ranks[0], w.ranks[1]
	must(t, a.Post(background, []rma.Rank{1}))
	fails(t, "Wait", a.Wait(a.patience()), context.Canceled)
	fails(t, "Post", a.Post(background, []rma.Rank{1}), epoch.ErrOpen)
	must(t, b.Start(background, []rma.Rank{0}), b.Complete(), a.Wait(background))
}

// TestPostGoesOn interrupts a Post that waits for room in a mailbox.
func TestPostGoesOn(t *testing.T) {
	w := newWorld(t, 4, epoch.Options{Neighbours: 1})
	a, b, c := w.ranks[0], w.ranks[1], w.ranks[2]
	group := []rma.Rank{3, 0}
	must(t, b.Post(background, []rma.Rank{0}))
	fails(t, "Post", c.Post(c.patience(), group), context.Canceled)
	fails(t, "Post to others", c.Post(background, []rma.Rank{0}), epoch.ErrOpen)
	fails(t, "Wait", c.Wait(background), epoch.ErrNotOpen)
	must(t, a.Start(background, []rma.Rank{1}), a.Complete(), b.Wait(background))
	must(t, c.Post(background, group))
	fails(t, "Post", c.Post(background, group), epoch.ErrOpen)
	must(t, a.Start(background, []rma.Rank{2}), a.Complete())
	must(t, w.ranks[3].Start(background, []rma.Rank{2}), w.ranks[3].Complete())
	must(t, c.Wait(background))
}

// TestClosedFabric checks that every method returns the window's failure.
func TestClosedFabric(t *testing.T) {
	w := newWorld(t, 3, epoch.Options{})
	x, err := epoch.NewExposure(w.fabric)
	must(t, err)
	a, b, c := w.ranks[0], w.ranks[1], w.ranks[2]
	must(t, a.Post(background, []rma.Rank{0}), a.Start(background, []rma.Rank{0}))
	must(t, b.Lock(background, 2, epoch.Exclusive), b.Lock(background, 0, epoch.Shared))
	// The fabric closes while rank 2 waits for rank 1.
	c.whenItWaits(func() { w.fabric.Close() })
	fails(t, "Lock under way", c.Lock(background, 2, epoch.Shared), rma.ErrClosed)
	for name, err := range map[string]error{
		"Complete":         a.Complete(),
		"Wait":             a.Wait(background),
		"exclusive Unlock": b.Unlock(2),
		"shared Unlock":    b.Unlock(0),
		"Fence":            c.Fence(background),
		"Post":             c.Post(background, []rma.Rank{0}),
		"Start":            c.Start(background, []rma.Rank{0}),
		"shared Lock":      c.Lock(background, 0, epoch.Shared),
		"exclusive Lock":   c.Lock(background, 0, epoch.Exclusive),
		"LockAll":          c.LockAll(background),
		"Expose":           second(x.Expose(background, c.Sync, make([]uint64, 1))),
	} {
		fails(t, name, err, rma.ErrClosed)
	}
}
