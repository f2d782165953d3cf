package locks

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Ticket locks go on where tickets wrap, also with waiters that give up and come
// back.
func TestTicketsWrap(t *testing.T) {
	for _, name := range []string{"TKT", "TKT-A"} {
		t.Run(name, func(t *testing.T) {
			spec, _ := ByName(name)
			system := sim.System{
				Topology: topology.Flat(3),
				Setup:    func(f *sim.Fabric) (sim.Program, error) { return wrapping(f, spec) },
				Command:  "go test ./locks -run TestTicketsWrap",
			}
			if err := system.Seeds(0, 500).Err(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// wrapping is ranks that acquire a lock again and again after it has served all
// tickets but one.
func wrapping(f *sim.Fabric, spec Spec) (sim.Program, error) {
	const last = uint64(ticketMask)
	l, err := spec.New(f, Options{})
	if err != nil {
		return sim.Program{}, err
	}
	ready, err := f.Alloc(1)
	if err != nil {
		return sim.Program{}, err
	}
	inside := 0
	giveUp := []context.CancelFunc{func() {}, func() {}, func() {}} // by rank
	return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
		me, home, words := w.Rank(), l.o.Home, l.words.home
		if me == 0 {
			w.Put(home, words+ticketNext, last)
			w.Put(home, words+ticketServing, last)
			w.FlushAll()
			w.Put(0, ready, 1)
			w.Flush(0)
		} else if _, err := w.Await(ctx, 0, ready, rma.Is(1)); err != nil {
			return err
		}
		m := l.At(w)
		for range 4 {
			var patience context.Context
			patience, giveUp[me] = context.WithCancel(ctx)
			for err := m.Acquire(patience); err != nil; err = m.Acquire(ctx) {
				if patience.Err() == nil || ctx.Err() != nil {
					return err
				}
			}
			if inside++; inside != 1 {
				return fmt.Errorf("rank %d is inside with %d others", me, inside-1)
			}
			giveUp[(me+1)%3]()
			w.Get(0, ready) // others may go on
			inside--
			m.Release()
			giveUp[(me+2)%3]()
			if served := w.Get(home, words+ticketServing); served >= last {
				return fmt.Errorf("ticket %#x is served after the last one", served)
			}
		}
		return nil
	}}, nil
}
