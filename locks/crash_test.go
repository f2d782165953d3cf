package locks_test

import (
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/sim"
)

// TestCrashSeeds crashes holders, waiters and other ranks. No rank gets the lock after its
// holder has crashed. All other ranks end: with the lock, or with an error that says that
// the lock is broken and which peer is lost.
func TestCrashSeeds(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, text := range smallMachines {
				for crashes := 1; crashes <= 2; crashes++ {
					for _, way := range waysOf(spec) {
						g := game{spec: spec, tree: machine(t, text), acquisitions: 3, crashes: crashes, way: way}
						if r := g.seeds(seeds.All()); r.Failure != nil {
							t.Fatalf("%s: %v", g, r.Failure)
						}
					}
				}
			}
		})
	}
}

// TestCrashAnywhere crashes either of two ranks at every point of every schedule.
func TestCrashAnywhere(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"core:2", "node:2 core:1"} {
				for _, vary := range protocols(spec) {
					for _, way := range waysOf(spec) {
						g := game{spec: spec, tree: machine(t, text), acquisitions: 1, crashes: 1, way: way}
						r := g.exhaust(sim.Faults{Crashes: 1}, vary, sim.Limit{States: crashStates.N()})
						if r.Failure != nil {
							t.Fatalf("%s: %v", g, r.Failure)
						}
						if !r.Complete {
							t.Logf("%s: more than %d states; -locks.crashstates 0 visits all of them", g, crashStates.N())
						}
					}
				}
			}
		})
	}
}
