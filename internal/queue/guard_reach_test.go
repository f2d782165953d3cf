package queue

import (
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
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
	rings.Computes(t)
	playSides(t, drawReach)
}

// TestReachExhaust visits every state of small games with a rank of another node.
func TestReachExhaust(t *testing.T) {
	rings.Computes(t)
	one, round := script, orderedRound
	games := map[string]sides{
		"write, write": {scripts: [][]bout{round(Write), one(Write, relaxedAccess)}},
		"write, read":  {scripts: [][]bout{round(Write), one(Read, relaxedAccess)}},
		"read, write":  {scripts: [][]bout{round(Read), one(Write, relaxedAccess)}},
		"relaxed":      {scripts: [][]bout{one(Write, relaxedAccess), one(Write, relaxedAccess)}},
		"both sides":   {scripts: [][]bout{round(Write), one(Write, relaxedAccess), one(Read, relaxedAccess)}},
		"broken":       {scripts: [][]bout{append(round(Write), one(Write, orderedCancel)...), one(Write, breakIt), one(Write, relaxedAccess)}},
	}
	for name, d := range games {
		d.elsewhere = 1
		games[name] = d
	}
	exhaustSides(t, games)
}
