package locks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// TestCancelAnywhere ends the context of either of two ranks at every point of everything
// that they can do, also where a window fails at the same time.
func TestCancelAnywhere(t *testing.T) {
	rings.Computes(t)
	search(t, quitStates.N(), explore.Cancel, explore.CancelCrash)
}

// TestGoneForGood ends the context of a reader or a writer, which does not come again. It is
// the last that could let in, and wake, a reader that it has kept out.
func TestGoneForGood(t *testing.T) {
	rings.Computes(t)
	search(t, quitStates.N(), explore.Leave)
}

// A writer of RMA-RW has had its turn at the root, finds a reader inside, and gives up for good. It
// has completed what it wrote into its element's node: the next writer of the element waits there.
func TestGoneWriterLeavesNodeWhole(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	system := sim.System{Topology: machine(t, "node:2 core:2"), Setup: func(f *sim.Fabric) (sim.Program, error) {
		l, err := specOf(t, "RMA-RW").New(f, locks.Options{Operations: true, TL: []int{1, 1}, TW: 1})
		if err != nil {
			return sim.Program{}, err
		}
		step, err := f.Alloc(1) // of the story, at rank 3
		leaving, leave := context.WithCancel(context.Background())
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			after := func(n uint64) error {
				_, err := w.Await(ctx, 3, step, rma.Is(n))
				return err
			}
			done := func() { w.FetchOp(3, step, rma.Sum, 1) }
			seen := w
			if w.Rank() != 2 {
				seen = lockstest.Watch(w, done)
			}
			m := l.At(seen).(locks.RWMutex)
			switch w.Rank() {
			case 2: // writes twice; the others come meanwhile
				for _, first := range []uint64{0, 5} {
					if err := errors.Join(after(first), m.Acquire(ctx)); err != nil {
						return err
					}
					done()
					if err := after(first + []uint64{3, 2}[first/5]); err != nil {
						return err
					}
					m.Release()
				}
			case 1: // gives up
				if err := after(1); err != nil {
					return err
				}
				if m.Acquire(leaving) == nil {
					m.Release()
				}
				done()
			case 3: // reads after the first writer
				if err := errors.Join(after(2), m.AcquireRead(ctx)); err != nil {
					return err
				}
				leave()
				if err := after(4); err != nil {
					return err
				}
				m.ReleaseRead()
				done()
			case 0: // the next writer of the element
				if err := errors.Join(after(6), m.Acquire(ctx)); err != nil {
					return err
				}
				m.Release()
			}
			return nil
		}}, err
	}}
	if r := system.Exhaust(sim.Limit{States: 20_000}); r.Failure != nil {
		t.Errorf("%+v, %v", r, r.Err())
	} else {
		t.Logf("%+v", r)
	}
}

// TestCrashSeeds crashes holders, waiters and other ranks. No rank gets the lock after its
// holder has crashed. All other ranks end: with the lock, or with an error that says that
// the lock is broken and which peer is lost.
func TestCrashSeeds(t *testing.T) {
	rings.Computes(t)
	draw(t, seeds.All(), explore.Crashes)
}

// TestCrashAnywhere crashes either of two ranks at every point of every schedule.
func TestCrashAnywhere(t *testing.T) {
	rings.Computes(t)
	search(t, crashStates.N(), explore.Crash, explore.Split)
}
