package explore

import (
	"context"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Rivals are ranks that want a lock as often as they can, and one that waits beside them. The
// time is virtual and the delays are a described machine's, so the order is the same each time.
type Rivals struct {
	Lock    Lock
	Tree    *topology.Tree
	Options locks.Options
	Turns   int  // of each rival
	Section int  // its length, in pauses
	Apart   bool // rank 0's neighbours stay away
	Rival   Mode
	Waiter  Mode
}

// Mode is how a rank wants a lock.
type Mode uint8

// The modes.
const (
	Write Mode = iota
	Read
	Low // to write, with low priority
)

func (m Mode) acquire(ctx context.Context, l locks.Mutex) error {
	switch m {
	case Read:
		return l.(locks.RWMutex).AcquireRead(ctx)
	case Low:
		return l.(locks.PriorityMutex).AcquireLow(ctx)
	}
	return l.Acquire(ctx)
}

func (m Mode) release(l locks.Mutex) {
	if m == Read {
		l.(locks.RWMutex).ReleaseRead()
	} else {
		l.Release()
	}
}

// Overtake is how often the rivals acquire the lock while rank 0 waits for it, at most. Rank 0
// comes four times.
func (r Rivals) Overtake() (most int, err error) {
	system := sim.System{
		Topology: r.Tree, Shared: !r.Options.Operations, MaxSteps: 1 << 20,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			passed, waits := 0, false
			most = 0
			at, err := r.Lock.New(f, r.Options)
			if err != nil {
				return sim.Program{}, err
			}
			word, err := f.Alloc(1)
			if err != nil {
				return sim.Program{}, err
			}
			tree := f.Topology()
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				m, n := at(w), tree.Levels()
				if w.Rank() != 0 && r.Apart && tree.Element(w.Rank(), n) == tree.Element(0, n) {
					return nil
				}
				if w.Rank() == 0 {
					w.Pause(r.Section * 4)
					w.Get(0, word) // now the time has passed
					for range 4 {
						passed, waits = 0, true
						if err := r.Waiter.acquire(ctx, m); err != nil {
							return err
						}
						most, waits = max(most, passed), false
						w.Pause(r.Section)
						r.Waiter.release(m)
						w.Get(0, word)
					}
					return nil
				}
				w.Pause(int(w.Rank()) * r.Section / 2)
				for range r.Turns {
					if err := r.Rival.acquire(ctx, m); err != nil {
						return err
					}
					if waits {
						passed++
					}
					w.Pause(r.Section)
					r.Rival.release(m)
				}
				return nil
			}}, nil
		},
	}
	if p := system.Predict(sim.Machines()[0], 1); p.Failure != nil {
		return most, p.Failure
	}
	return most, nil
}
