package locks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// TestCancelAnywhere ends the context of either of two ranks at every point of everything
// that they can do, also where a window fails at the same time.
func TestCancelAnywhere(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		if spec.Aborts == locks.Never {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"core:2", "node:2 core:1"} {
				for _, vary := range protocols(spec) {
					for _, way := range waysOf(spec) {
						for _, faults := range []sim.Faults{{Cancels: 2}, {Cancels: 1, Crashes: 1}} {
							g := game{spec: spec, tree: machine(t, text), acquisitions: 1, crashes: faults.Crashes, way: way}
							g.cancelAnywhere(t, faults, vary)
						}
					}
				}
			}
		})
	}
}

func (g game) cancelAnywhere(t *testing.T, faults sim.Faults, vary func(*locks.Options)) {
	t.Helper()
	for _, cast := range g.casts() {
		system := g.searched(cast, faults, vary)
		system.Command = fmt.Sprintf("go test ./locks -run '^TestCancelAnywhere$/^%s$' -locks.quitstates %d", g.spec.Name, quitStates.N())
		r := system.Exhaust(sim.Limit{States: quitStates.N()})
		if r.Failure != nil {
			t.Fatalf("%s, %+v: %v", g, faults, r.Failure)
		}
		if !r.Complete {
			t.Logf("%s, %+v: more than %d states; -locks.quitstates 0 visits all of them", g, faults, quitStates.N())
			return
		}
	}
}

// TestGoneForGood ends the context of a reader or a writer, which does not come again. It is
// the last that could let in, and wake, a reader that it has kept out.
func TestGoneForGood(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		if spec.Kind != locks.ReaderWriter {
			continue
		}
		for _, way := range waysOf(spec) {
			for _, vary := range protocols(spec) {
				t.Run(spec.Name+"/"+string(way), func(t *testing.T) {
					t.Parallel()
					o := locks.Options{Operations: way == byOperations}
					vary(&o)
					if spec.Name == "RMA-RW" {
						o.TDC, o.TR = 3, 1
					}
					system := sim.System{
						Topology: machine(t, "core:3"), Shared: way == direct, Faults: sim.Faults{Cancels: 1},
						Command: fmt.Sprintf("go test ./locks -run '^TestGoneForGood$/^%s$' -locks.quitstates %d", spec.Name, quitStates.N()),
						Setup: func(f *sim.Fabric) (sim.Program, error) {
							l, err := spec.New(f, o)
							if err != nil {
								return sim.Program{}, err
							}
							return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
								m, acquire, release := l.At(w).(locks.RWMutex), locks.RWMutex.AcquireRead, locks.RWMutex.ReleaseRead
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
					r := system.Exhaust(sim.Limit{States: quitStates.N()})
					if r.Failure != nil {
						t.Fatal(r.Failure)
					}
					if !r.Complete {
						t.Logf("more than %d states; -locks.quitstates 0 visits all of them", quitStates.N())
					}
				})
			}
		}
	}
}
