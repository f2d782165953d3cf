package locks_test

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/sim"
)

// TestCancelAnywhere ends the context of either of two ranks at every point of everything
// that they can do, also where a window fails at the same time.
func TestCancelAnywhere(t *testing.T) {
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
		system.Command = fmt.Sprintf("go test ./locks -run '^TestCancelAnywhere$/^%s$' -locks.states %d", g.spec.Name, *states)
		r := system.Exhaust(sim.Limit{States: *states})
		if r.Failure != nil {
			t.Fatalf("%s, %+v: %v", g, faults, r.Failure)
		}
		if !r.Complete {
			t.Logf("%s, %+v: more than %d states; -locks.states 0 visits all of them", g, faults, *states)
			return
		}
	}
}
