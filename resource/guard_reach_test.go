package resource

import (
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/net/sim"
)

// drawReach makes a random game whose last one or two ranks are of other nodes.
func drawReach(seed uint64) sides {
	d := drawSides(seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	d.elsewhere = 1 + rng.IntN(min(2, len(d.scripts)-1))
	for p := len(d.scripts) - d.elsewhere; p < len(d.scripts); p++ {
		d.scripts[p] = nil
		for range 1 + rng.IntN(6) {
			d.scripts[p] = append(d.scripts[p], bout{what: relaxedAccess, mode: Mode(rng.IntN(2))})
		}
	}
	return d
}

// TestReachSeeds plays places and relaxed accesses of the home beside relaxed accesses of
// other nodes, under random schedules. Unflushed operations arrive late or never.
func TestReachSeeds(t *testing.T) {
	needsProbe(t)
	steps := 0
	for seed := range uint64(*seeds) {
		report := drawReach(seed).system().Seeds(seed, 1)
		steps += report.Steps
		if err := report.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, drawReach(seed))
		}
	}
	t.Logf("%d seeds, %d steps", *seeds, steps)
}

// TestReachExhaust visits every state of small games with a rank of another node.
func TestReachExhaust(t *testing.T) {
	needsProbe(t)
	one := func(m Mode, a ...action) (script []bout) {
		for _, a := range a {
			script = append(script, bout{what: a, mode: m})
		}
		return script
	}
	round := func(m Mode) []bout { return one(m, orderedRequest, orderedAcquire, orderedRelease) }
	for name, d := range map[string]sides{
		"write, write": {scripts: [][]bout{round(Write), one(Write, relaxedAccess)}},
		"write, read":  {scripts: [][]bout{round(Write), one(Read, relaxedAccess)}},
		"read, write":  {scripts: [][]bout{round(Read), one(Write, relaxedAccess)}},
		"relaxed":      {scripts: [][]bout{one(Write, relaxedAccess), one(Write, relaxedAccess)}},
		"both sides":   {scripts: [][]bout{round(Write), one(Write, relaxedAccess), one(Read, relaxedAccess)}},
		"broken":       {scripts: [][]bout{append(round(Write), one(Write, orderedCancel)...), one(Write, breakIt), one(Write, relaxedAccess)}},
	} {
		t.Run(name, func(t *testing.T) {
			d.places, d.tl, d.elsewhere = 1, 1, 1
			report := d.system().Exhaust(sim.Limit{States: *states})
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d runs, complete: %t", report.States, report.Runs, report.Complete)
		})
	}
}
