package locks

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Ticket locks work when tickets wrap or change their sign, also with waiters that give up
// and come back. At the end no rank counts as absent.
func TestTicketsWrap(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, name := range []string{"TKT", "TKT-A"} {
		for _, first := range []uint64{1<<32 - 2, 1<<31 - 2, 0} {
			for _, shared := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%#x/shared=%t", name, first, shared), func(t *testing.T) {
					spec, _ := ByName(name)
					system := sim.System{
						Topology: topology.Flat(3),
						Shared:   shared,
						Setup:    func(f *sim.Fabric) (sim.Program, error) { return ticketsFrom(first*oneTicket, f, spec) },
					}
					if err := system.Seeds(0, 500).Err(); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
}

// ticketsFrom makes ranks that acquire a lock again and again. The lock begins as if first
// tickets had been served.
func ticketsFrom(first uint64, f *sim.Fabric, spec Spec) (sim.Program, error) {
	const rounds = 4
	l, err := spec.New(f, Options{})
	if err != nil {
		return sim.Program{}, err
	}
	ready, err := f.Alloc(1)
	if err != nil {
		return sim.Program{}, err
	}
	inside, acquired := 0, 0
	giveUp := []context.CancelFunc{func() {}, func() {}, func() {}} // by rank
	return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
		me, home, words := w.Rank(), l.o.Home, l.base.home
		if me == 0 {
			w.Put(home, words+ticketNext, first)
			w.Put(home, words+ticketServing, first)
			w.FlushAll()
			w.Put(0, ready, 1)
			w.Flush(0)
		} else if _, err := w.Await(ctx, 0, ready, rma.Is(1)); err != nil {
			return err
		}
		m := l.At(w)
		for range rounds {
			var patience context.Context
			patience, giveUp[me] = context.WithCancel(ctx)
			for err := m.Acquire(patience); err != nil; err = m.Acquire(ctx) {
				if patience.Err() == nil || ctx.Err() != nil {
					return err
				}
			}
			if inside++; inside != 1 {
				return fmt.Errorf("rank %d is inside with %d other ranks", me, inside-1)
			}
			giveUp[(me+1)%3]()
			w.Get(0, ready) // other ranks may go on
			inside--
			m.Release()
			giveUp[(me+2)%3]()
			acquired++
		}
		if acquired < rounds*len(giveUp) {
			return nil
		}
		next, serving := w.Get(home, words+ticketNext), w.Get(home, words+ticketServing)
		if next != serving || next&grantMask != 0 {
			return fmt.Errorf("at the end ticket %#x is next and %#x is served, want the same ticket and no absent rank", next, serving)
		}
		return nil
	}}, nil
}
