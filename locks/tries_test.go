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
)

// TestTryAnywhere ends the context of any of three ranks at every point, and lets the
// rank try then. If the ranks of a lock stay, a rank tries while another one acquires, and two beside two others.
func TestTryAnywhere(t *testing.T) {
	rings.Computes(t)
	search(t, (quitStates.N()+3)/4, explore.Try)
}

// A lock is free after its holder has skipped all ranks that gave up. Each of these can
// have it by a try then, and not before.
func TestTryAfterSkip(t *testing.T) {
	for _, spec := range locks.All() {
		if spec.Aborts == locks.Never {
			continue
		}
		for _, way := range waysOf(spec) {
			t.Run(spec.Name+"/"+string(way), func(t *testing.T) {
				l, f := onMem(t, spec.Name, "node:2 core:2", locks.Options{Operations: way == byOperations})
				var m []locks.Mutex
				ends := make([]context.CancelFunc, 4)
				for p := range ends {
					w, err := f.Window(rma.Rank(p))
					must(err)
					m = append(m, l.At(lockstest.Watch(w, func() { ends[p]() })))
				}
				must(m[0].Acquire(context.Background()))
				for p := 1; p < 4; p++ {
					var ctx context.Context
					ctx, ends[p] = context.WithCancel(context.Background())
					if err := m[p].Acquire(ctx); !errors.Is(err, context.Canceled) {
						t.Fatalf("rank %d acquires a lock that is held, gives up, and gets %v", p, err)
					}
					if p == 1 && m[p].(locks.Tryer).TryAcquire() { // the others try later only
						t.Fatalf("rank %d has a lock by a try that rank 0 holds", p)
					}
				}
				m[0].Release()
				for _, p := range []int{2, 1, 3, 0, 2} {
					if !m[p].(locks.Tryer).TryAcquire() {
						t.Fatalf("rank %d cannot have by a try what is free", p)
					}
					m[p].Release()
				}
			})
		}
	}
}

// A rank whose window has failed has no lock, also not one that was free.
func TestFailedWindowRefuses(t *testing.T) {
	for _, spec := range locks.All() {
		for _, way := range waysOf(spec) {
			t.Run(spec.Name+"/"+string(way), func(t *testing.T) {
				l, f := onMem(t, spec.Name, "node:2 core:2", locks.Options{Operations: way == byOperations})
				w, err := f.Window(0)
				must(err)
				m := l.At(w)
				must(f.Close())
				if try, ok := m.(locks.Tryer); ok && try.TryAcquire() {
					t.Error("a try succeeds")
				}
				if try, ok := m.(locks.ReadTryer); ok && try.TryAcquireRead() {
					t.Error("a try to read succeeds")
				}
				if err := m.Acquire(context.Background()); !errors.Is(err, locks.ErrBroken) {
					t.Errorf("acquiring returns %v, want %v", err, locks.ErrBroken)
				}
				if c := m.(locks.Counter).Counts(); c != (locks.Counts{Broken: c.Broken}) {
					t.Errorf("counted %+v", c)
				}
			})
		}
	}
}
