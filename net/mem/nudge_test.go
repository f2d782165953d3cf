package mem_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// TestWaitsThatAreCancelled passes a token round while contexts end that the
// ranks wait with, at any moment. No wake-up is lost: the token comes round. The
// ranks wait for words of their own, or for words of the one before.
func TestWaitsThatAreCancelled(t *testing.T) {
	const ranks, rounds = 4, 300
	for name, home := range map[string]func(p rma.Rank) rma.Rank{
		"own words":      func(p rma.Rank) rma.Rank { return p },
		"others' words":  func(p rma.Rank) rma.Rank { return (p + ranks - 1) % ranks },
		"rank 0's words": func(p rma.Rank) rma.Rank { return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			f, err := mem.New(mem.Options{Topology: topology.Flat(ranks), Words: ranks})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			w, err := f.Window(0)
			if err != nil {
				t.Fatal(err)
			}
			w.Put(home(0), 0, 1)                              // rank 0 begins
			var now [ranks]atomic.Pointer[context.CancelFunc] // ends what the rank waits with
			var players, canceller sync.WaitGroup
			var done atomic.Bool
			for p := range rma.Rank(ranks) {
				w, err := f.Window(p)
				if err != nil {
					t.Fatal(err)
				}
				next := (p + 1) % ranks
				players.Go(func() {
					for round := range uint64(rounds) {
						patiently(t, &now[p], func(ctx context.Context) error {
							_, err := w.Await(ctx, home(p), rma.Disp(p), rma.AtLeast(round+1))
							return err
						})
						if next == 0 {
							round++
						}
						w.Put(home(next), rma.Disp(next), round+1)
					}
				})
			}
			canceller.Go(func() {
				for !done.Load() {
					for p := range now {
						if cancel := now[p].Load(); cancel != nil {
							(*cancel)()
						}
						runtime.Gosched()
					}
				}
			})
			players.Wait()
			done.Store(true)
			canceller.Wait()
		})
	}
}

// patiently tries again, with a new context, until do is done.
func patiently(t *testing.T, now *atomic.Pointer[context.CancelFunc], do func(ctx context.Context) error) {
	for {
		ctx, cancel := context.WithCancel(context.Background())
		now.Store(&cancel)
		err := do(ctx)
		cancel()
		if err == nil {
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Await returns %v", err)
			return
		}
	}
}
