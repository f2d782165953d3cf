package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// trying is ranks that acquire once. A rank that gives up tries, and acquires if that fails.
// While its place may still be in the queue, a try must not take the lock. If no rank of the
// lock gives up, every other one tries at once.
func (g Game) trying(vary func(*locks.Options)) sim.System {
	inside := 0
	stays := g.Lock.Spec.Aborts == locks.Never
	faults := sim.Faults{Cancels: 1}
	if stays {
		faults = sim.Faults{}
	}
	return sim.System{
		Topology: g.Tree, Shared: g.Way == Direct, Faults: faults, Command: g.Lock.Command,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			inside = 0
			o := g.Lock.options(lockstest.Thresholds{TL: 1, TR: 1, TW: 1}, g.Tree)
			vary(&o)
			at, err := g.Lock.New(f, o)
			if err != nil {
				return sim.Program{}, err
			}
			data, err := f.Alloc(1)
			if err != nil {
				return sim.Program{}, err
			}
			return sim.Program{
				State: func() uint64 { return uint64(inside) },
				Rank: func(ctx context.Context, w rma.Window) error {
					m := at(w)
					tries := stays && w.Rank()%2 == 1
					if !tries {
						err := m.Acquire(ctx)
						if tries = errors.Is(err, context.Canceled); err != nil && !tries {
							return err
						}
					}
					if tries {
						if !m.(locks.Tryer).TryAcquire() {
							if err := m.Acquire(context.WithoutCancel(ctx)); err != nil {
								return err
							}
						}
					}
					if inside++; inside != 1 {
						return fmt.Errorf("rank %d is inside beside another one", w.Rank())
					}
					w.Get(0, data) // others may go on
					inside--
					m.Release()
					return nil
				},
			}, nil
		},
	}
}

// leaving ends the context of a reader or a writer, which does not come again. It is
// the last that could let in, and wake, a reader that it has kept out.
func (g Game) leaving(vary func(*locks.Options)) sim.System {
	var o locks.Options
	if g.Lock.Fixed != nil {
		o = *g.Lock.Fixed
	}
	vary(&o)
	if g.Lock.Spec.Name == "RMA-RW" && g.Lock.Fixed == nil {
		o.TDC, o.TR = 3, 1
	}
	return sim.System{
		Topology: g.Tree, Shared: g.Way == Direct, Faults: sim.Faults{Cancels: 1}, Command: g.Lock.Command,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			at, err := g.Lock.New(f, o)
			if err != nil {
				return sim.Program{}, err
			}
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				m, acquire, release := at(w).(locks.RWMutex), locks.RWMutex.AcquireRead, locks.RWMutex.ReleaseRead
				if w.Rank() == 1 {
					acquire, release = locks.RWMutex.Acquire, locks.RWMutex.Release
				}
				if err := acquire(m, ctx); errors.Is(err, context.Canceled) {
					return nil
				} else if err != nil {
					return err
				}
				release(m)
				return nil
			}}, nil
		},
	}
}
