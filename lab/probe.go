package lab

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/net/rma"
)

// Probe knows what a rank does now. Any goroutine may look. The rank pays for an ordinary
// store.
type Probe struct{ phase, turns tally.Count }

// The phases of a rank.
const (
	phaseMeets uint64 = iota
	phaseOutside
	phaseAcquires
	phaseHolds
	phaseReleases
	phaseEnded
)

var phases = [...]string{
	phaseMeets: "waits for the other ranks to begin or end", phaseOutside: "works outside",
	phaseAcquires: "waits for the lock", phaseHolds: "holds the lock", phaseReleases: "releases the lock",
	phaseEnded: "has ended",
}

// Look is what the rank does now, and how many iterations it has made.
func (p *Probe) Look() (doing string, turns uint64) {
	return phases[p.phase.Load()], p.turns.Load()
}

// StallError says that ranks did not end in time, and what each of them does.
type StallError struct {
	Case  Case
	Ranks []StalledRank
}

// StalledRank is a rank of a run that hangs.
type StalledRank struct {
	Rank  rma.Rank `json:"rank"`
	Doing string   `json:"doing"`
	Turns uint64   `json:"turns"`
}

func (e *StallError) Error() string {
	text := fmt.Sprintf("lab: %s of %s on %s hangs:", e.Case.Benchmark, e.Case.Lock, e.Case.Window)
	for _, r := range e.Ranks {
		text += fmt.Sprintf("\n  rank %d %s after %d iterations", r.Rank, r.Doing, r.Turns)
	}
	return text
}
