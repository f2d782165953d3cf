package locks_test

import (
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/sim"
)

// TestSpreadFlips plays RMA-RW-A with a spread that changes nearly every epoch: exhaustively, with
// crashes and contexts that end, and with seeds. The thresholds of the row change it too seldom
// for a search.
func TestSpreadFlips(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	row, _ := locks.ByName("RMA-RW-A")
	spec := locks.Nervous(row)
	t.Run(spec.Name, func(t *testing.T) {
		t.Parallel()
		for _, way := range waysOf(spec) {
			for _, text := range []string{"core:2", "node:2 core:1"} {
				for _, c := range []struct {
					acquisitions int
					faults       sim.Faults
				}{{2, sim.Faults{}}, {1, sim.Faults{Crashes: 1}}, {2, sim.Faults{Crashes: 1}}, {1, sim.Faults{Cancels: 2}}} {
					g := game{spec: spec, tree: machine(t, text), acquisitions: c.acquisitions, crashes: c.faults.Crashes, way: way}
					everywhere := func(o *locks.Options) { o.TDC = 1 }
					if r := g.exhaust(c.faults, everywhere, sim.Limit{States: quitStates.N()}); r.Failure != nil {
						t.Fatalf("%s: %v", g, r.Failure)
					}
				}
			}
			for _, text := range append(smallMachines, "core:4", "node:2 core:4") {
				for crashes := range 2 {
					g := game{spec: spec, tree: machine(t, text), acquisitions: 8, crashes: crashes, way: way}
					if r := g.seeds(seeds.Part(2, 1)); r.Failure != nil {
						t.Fatalf("%s: %v", g, r.Failure)
					}
				}
			}
		}
	})
}
