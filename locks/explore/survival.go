package explore

import (
	"math/rand/v2"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// The ways of games with windows that survive: the contest is a lockstest.Survival.
const (
	SurvivingOperations Way = "surviving-operations"
	SurvivingDirect     Way = "surviving-direct"
)

// Survives reports whether the windows survive.
func (w Way) Survives() bool { return w == SurvivingOperations || w == SurvivingDirect }

// WaysToSurvive are the ways in which a recoverable lock is played.
func WaysToSurvive(spec locks.Spec) []Way {
	if spec.Operations {
		return []Way{SurvivingOperations}
	}
	return []Way{SurvivingOperations, SurvivingDirect}
}

// ordeal makes a system of a survival.
func (g Game) ordeal(s lockstest.Survival, faults sim.Faults) sim.System {
	return sim.System{
		Topology: g.Tree,
		Words:    1 << 12,
		Shared:   g.Way == SurvivingDirect,
		Survive:  true,
		Faults:   faults,
		Command:  g.Lock.Command,
		MaxSteps: 1 << 20,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			o, err := s.Start(f)
			if err != nil {
				return sim.Program{}, err
			}
			return sim.Program{Rank: o.Rank, State: o.State}, nil
		},
	}
}

// survival is the survival of a cast.
func (g Game) survival(o locks.Options, readers []bool) lockstest.Survival {
	return lockstest.Survival{
		Subject: g.Lock.Subject, Options: o, Acquisitions: g.Acquisitions,
		Reads: func(p rma.Rank) bool { return readers[p] },
	}
}

// drawnOrdeal is the survival of a seed, with up to as many crashes as the game has.
func (g Game) drawnOrdeal(seed uint64) sim.System {
	rng := rand.New(rand.NewPCG(seed, 9))
	ranks := g.Tree.Ranks()
	o := g.Lock.options(lockstest.Thresholds{TL: 1 + rng.IntN(3), TR: 1 + rng.IntN(4), TW: 1 + rng.IntN(9)}, g.Tree)
	o.Home = rma.Rank(rng.IntN(ranks))
	readers := make([]bool, ranks)
	for p := range readers {
		readers[p] = g.Lock.Spec.Kind == locks.ReaderWriter && rng.IntN(2) == 0
	}
	faults := sim.Faults{Crashes: g.Crashes, Cancels: rng.IntN(2), Delays: rng.IntN(3), Pauses: rng.IntN(3)}
	return g.ordeal(g.survival(o, readers), faults)
}

// survivals are the plays of a recoverable lock: any rank crashes, also while it repairs, and the others go on.
func survivals(l Lock, s Setting) (all []Play) {
	if !l.Spec.Recoverable {
		return nil
	}
	for _, way := range WaysToSurvive(l.Spec) {
		for _, tree := range s.trees("core:2", "core:3", "node:2 core:2", "rack:2 node:2 core:2") {
			for crashes := 1; crashes < min(3, tree.Ranks()); crashes++ {
				g := Game{l, tree, s.acquisitions(3), crashes, way}
				all = append(all, Play{Kind: Survive, Name: name(Survive, crashes, nameOf(tree), way), lock: l, system: g.System})
			}
		}
		for _, tree := range s.trees("core:2", "node:2 core:1", "core:3") {
			g := Game{l, tree, s.acquisitions(1), 1, way}
			for _, cast := range g.Casts() {
				system := g.Searched(cast, sim.Faults{Crashes: 1}, func(*locks.Options) {})
				all = append(all, Play{Kind: SurviveAny, Name: name(SurviveAny, nameOf(tree), way, roles(l, cast)), lock: l, every: true,
					system: func(uint64) sim.System { return system }})
			}
		}
	}
	return all
}
