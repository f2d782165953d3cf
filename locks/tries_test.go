package locks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// trying is ranks that acquire once. A rank that gives up tries, and acquires if that fails.
// While its place may still be in the queue, a try must not take the lock. If no rank of the
// lock gives up, every other one tries at once.
func (g game) trying(vary func(*locks.Options)) sim.System {
	inside := 0
	stays := g.spec.Aborts == locks.Never
	faults := sim.Faults{Cancels: 1}
	if stays {
		faults = sim.Faults{}
	}
	return sim.System{
		Topology: g.tree, Shared: g.way == direct, Faults: faults,
		Command: fmt.Sprintf("go test ./locks -run '^TestTry(Anywhere|Beside)$/^%s$' -locks.quitstates %d", g.spec.Name, quitStates.N()),
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			inside = 0
			o := lockstest.Thresholds{TL: 1, TR: 1, TW: 1}.Options(g.spec, g.tree)
			vary(&o)
			l, err := g.spec.New(f, o)
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
					m := l.At(w)
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

// TestTryAnywhere ends the context of any of three ranks at every point, and lets the
// rank try then.
func TestTryAnywhere(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		if spec.Aborts == locks.Never {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"core:3", "node:3 core:1"} {
				for _, vary := range protocols(spec) {
					for _, way := range waysOf(spec) {
						g := game{spec: spec, tree: machine(t, text), way: way}
						r := g.trying(vary).Exhaust(sim.Limit{States: (quitStates.N() + 3) / 4})
						if r.Failure != nil {
							t.Fatalf("%s: %v", g, r.Failure)
						}
						if !r.Complete {
							t.Logf("%s: more than a quarter of %d states; -locks.quitstates 0 visits all of them", g, quitStates.N())
						}
					}
				}
			}
		})
	}
}

// TestTryBeside lets a rank try while another one acquires, and two beside two others. It is
// for the locks whose ranks stay: TestTryAnywhere has the others.
func TestTryBeside(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		if spec.Aborts == locks.Always {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, way := range waysOf(spec) {
				for _, text := range []string{"core:2", "node:2 core:1"} {
					g := game{spec: spec, tree: machine(t, text), way: way}
					if r := g.trying(func(*locks.Options) {}).Exhaust(sim.Limit{States: (quitStates.N() + 3) / 4}); r.Failure != nil {
						t.Fatalf("%s: %v", g, r.Failure)
					}
				}
				g := game{spec: spec, tree: machine(t, "node:2 core:2"), way: way}
				if r := g.trying(func(*locks.Options) {}).Seeds(seeds.Span()); r.Failure != nil {
					t.Fatalf("%s: %v", g, r.Failure)
				}
			}
		})
	}
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
