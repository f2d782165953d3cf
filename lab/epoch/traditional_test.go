package epoch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
)

// partial is a fabric on which some ranks cannot expose memory.
type partial struct {
	*mem.Fabric
	refuses map[rma.Rank]error
	exposed map[rma.Rank]rma.Disp
}

func (f *partial) Expose(p rma.Rank, memory []uint64) (rma.Disp, error) {
	if err := f.refuses[p]; err != nil {
		return 0, err
	}
	at, err := f.Fabric.Expose(p, memory)
	f.exposed[p] = at
	return at, err
}

// TestExposeRefused lets one rank fail. All ranks must get an error, and no slice
// may stay exposed.
func TestExposeRefused(t *testing.T) {
	w := newWorld(t, 5, epoch.Options{})
	reason := errors.New("too many")
	f := &partial{Fabric: w.fabric, refuses: map[rma.Rank]error{3: reason}, exposed: map[rma.Rank]rma.Disp{}}
	x, err := epoch.NewExposure(f)
	must(t, err)

	// The test interrupts one rank after another, so that only one goroutine uses
	// its map. Then all ranks resume together.
	for _, a := range w.ranks {
		fails(t, "Expose", second(x.Expose(a.patience(), a.Sync, make([]uint64, 2))), context.Canceled)
	}
	w.together(func(a *actor) error {
		_, err := x.Expose(background, a.Sync, nil)
		if !errors.Is(err, epoch.ErrNotExposed) || errors.Is(err, reason) != (a.Rank() == 3) {
			t.Errorf("Expose of rank %d: %v", a.Rank(), err)
		}
		return nil
	})
	for p, at := range f.exposed {
		if err := w.ranks[p].Detach(at); !errors.Is(err, rma.ErrNotAttached) {
			t.Errorf("rank %d's slice is still exposed", p)
		}
	}
	w.together(func(a *actor) error { return a.Fence(background) })
}

// TestExposeMisuse calls Expose, Fence and Withdraw out of order.
func TestExposeMisuse(t *testing.T) {
	w := newWorld(t, 2, epoch.Options{})
	x, err := epoch.NewExposure(w.fabric)
	must(t, err)
	y, err := epoch.NewExposure(w.fabric)
	must(t, err)
	a := w.ranks[0]
	memory := make([]uint64, 2)
	expose := func(ctx context.Context, x *epoch.Exposure) error { return second(x.Expose(ctx, a.Sync, memory)) }

	must(t, a.Post(background, nil))
	fails(t, "Expose after Post", expose(background, x), epoch.ErrOpen)
	must(t, a.Wait(background), a.LockAll(background))
	fails(t, "Expose after LockAll", expose(background, x), epoch.ErrOpen)
	must(t, a.UnlockAll())

	fails(t, "Expose alone", expose(a.patience(), x), context.Canceled)
	fails(t, "another Expose", expose(background, y), epoch.ErrOpen)
	fails(t, "Fence", a.Fence(background), epoch.ErrOpen)
	windows := make([]*epoch.Traditional, 2)
	w.together(func(a *actor) (err error) {
		windows[a.Rank()], err = x.Expose(background, a.Sync, memory)
		return err
	})
	fails(t, "Withdraw alone", windows[0].Withdraw(a.patience()), context.Canceled)
	fails(t, "Expose", expose(background, x), epoch.ErrOpen)
	w.together(func(a *actor) error { return windows[a.Rank()].Withdraw(background) })
	fails(t, "Withdraw again", windows[0].Withdraw(background), epoch.ErrNotOpen)
}
