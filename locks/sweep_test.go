package locks_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
	"github.com/orwl/go-orwl/net/sim"
)

var sweep = flag.Float64("locks.sweep", 0, "TestSweep: how much to explore, as a factor; 1 takes a quarter of an hour on one core")

// sweepSeeds are the numbers of games of TestSweep on the machines of one to four levels,
// with 20 acquisitions of each rank. sweepSmall is the number on each small machine.
var (
	sweepSeeds = []int{1000, 200, 20, 4}
	sweepSmall = 3000
)

// TestSweep explores every lock far, and prints a row for each: docs/explanation/explored.md.
func TestSweep(t *testing.T) {
	if *sweep <= 0 {
		t.Skip("-locks.sweep is not given: go test ./locks -run '^TestSweep$' -locks.sweep 1 -timeout 1h")
	}
	fmt.Println("| lock | states, 2 × 2 | with a crash, 2 × 1 | with cancels, 2 × 1 | seeds: small | with crashes | 4 | 16 | 64 | 256 ranks | steps | time |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			for _, way := range waysOf(spec) {
				begin := time.Now()
				row := sweepOf(t, spec, way)
				fmt.Printf("| %s, %s | %s | %.0f s |\n", spec.Name, way, strings.Join(row, " | "), time.Since(begin).Seconds())
			}
		})
	}
}

// sweepOf is the row of a lock that is explored in one way.
func sweepOf(t *testing.T, spec locks.Spec, way way) (row []string) {
	steps := 0
	find := func(g explore.Game, r sim.Report) sim.Report {
		steps += r.Steps
		if r.Failure != nil {
			t.Fatalf("%s: %v", g, r.Failure)
		}
		return r
	}
	for _, c := range []struct {
		acquisitions int
		faults       sim.Faults
	}{{2, sim.Faults{}}, {1, sim.Faults{Crashes: 1}}, {1, sim.Faults{Cancels: 2}}} {
		if c.faults.Cancels > 0 && spec.Aborts == locks.Never {
			row = append(row, "–")
			continue
		}
		var states []string
		for _, text := range []string{"core:2", "node:2 core:1"} {
			for i, protocol := range explore.Protocols(explore.Of(spec)) {
				faults := c.faults
				if i > 0 {
					faults.Cancels = min(faults.Cancels, 1) // with two, the search takes more than minutes
				}
				g := gameOf(spec, machine(t, text), c.acquisitions, c.faults.Crashes, way)
				r := find(g, g.Exhaust(faults, protocol.Set, sim.Limit{}))
				if !r.Complete {
					t.Fatalf("%s: the search is not complete: %+v", g, r)
				}
				states = append(states, thousands(r.States))
			}
		}
		row = append(row, strings.Join(states, ", "))
	}
	for _, crashes := range []int{0, 1} {
		runs := 0
		for _, text := range smallMachines {
			g := gameOf(spec, machine(t, text), 3, crashes, way)
			runs += find(g, g.Seeds(explore.From(0, int(*sweep*float64(sweepSmall))))).Runs
		}
		row = append(row, thousands(runs))
	}
	for i, text := range explore.MachinesOf256 {
		g := gameOf(spec, machine(t, text), 20, 0, way)
		row = append(row, thousands(find(g, g.Seeds(explore.From(0, max(1, int(*sweep*float64(sweepSeeds[i])))))).Runs))
	}
	return append(row, thousands(steps))
}

// thousands prints a number with a comma after every three digits.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
