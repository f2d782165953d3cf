package explore

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Game is a contest for a lock. A seed draws the parameters that the game leaves open.
type Game struct {
	Lock         Lock
	Tree         *topology.Tree
	Acquisitions int
	Crashes      int
	Way          Way
}

func (g Game) String() string {
	return fmt.Sprintf("%s/%s/%d/%d/%s", g.Lock.Spec.Name, g.Tree, g.Acquisitions, g.Crashes, g.Way)
}

// System is the contest of a seed. The seed draws thresholds so small that they take
// effect, a variant of the lock, readers and writers, and the faults.
func (g Game) System(seed uint64) sim.System {
	if g.Way.Survives() {
		return g.drawnOrdeal(seed)
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	ranks := g.Tree.Ranks()
	o := g.Lock.options(lockstest.Thresholds{TL: 1 + rng.IntN(3), TR: 1 + rng.IntN(4), TW: 1 + rng.IntN(9)}, g.Tree)
	o.Home = rma.Rank(rng.IntN(ranks))
	if g.Lock.has("TDC") {
		o.TDC = 1 + rng.IntN(ranks)
	}
	variants := g.Lock.variants()
	variants[rng.IntN(len(variants))].Set(&o)
	readers := make([]bool, ranks)
	for p := range readers {
		readers[p] = g.Lock.Spec.Kind != locks.Exclusive && rng.IntN(2) == 0
	}
	c := g.contest(o, readers)
	if g.Lock.Spec.Aborts == locks.Always && rng.IntN(2) == 0 {
		c.Quits = 8 << rng.IntN(6)
	}
	faults := sim.Faults{Crashes: g.Crashes, Delays: rng.IntN(3), Pauses: rng.IntN(3)}
	return g.play(c, faults, seed)
}

func (g Game) contest(o locks.Options, readers []bool) lockstest.Contest {
	return lockstest.Contest{
		Subject: g.Lock.Subject, Options: o, Acquisitions: g.Acquisitions,
		Reads: func(p rma.Rank) bool { return readers[p] },
	}
}

// stepsEach is how many steps a run may take for each acquisition of each rank. One that takes more does not end.
const stepsEach = 1 << 14

// play makes a system of a contest. Each run of it draws from the same seed.
func (g Game) play(c lockstest.Contest, faults sim.Faults, seed uint64) sim.System {
	return sim.System{
		Topology: g.Tree,
		Words:    max(sim.DefaultWords, 4*g.Tree.Ranks()), // DecLock has a word for each rank
		Shared:   g.Way == Direct,
		Faults:   faults,
		Command:  g.Lock.Command,
		MaxSteps: stepsEach * g.Tree.Ranks() * max(1, g.Acquisitions),
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			c.Quit = rand.New(rand.NewPCG(seed, 5))
			m, err := c.Start(f)
			if err != nil {
				return sim.Program{}, err
			}
			return sim.Program{Rank: m.Rank, Check: m.Check, State: m.State}, nil
		},
	}
}

// Seeds plays the games of seeds. It stops at the first failure.
func (g Game) Seeds(all iter.Seq[uint64]) sim.Report { return drawn(g.System, all, nil) }

// drawn plays the runs of seeds. Each seed has a system of its own. It stops at the first failure, and
// where goOn, if not nil, wants the end.
func drawn(system func(seed uint64) sim.System, all iter.Seq[uint64], goOn func(sim.Report) bool) (total sim.Report) {
	for s := range all {
		r := system(s).Seed(s)
		total.Runs++
		total.Steps += r.Steps
		if total.Failure = r.Failure; r.Failure != nil || goOn != nil && !goOn(total) {
			return total
		}
	}
	total.Complete = true
	return total
}

// From are n seeds.
func From(first uint64, n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range uint64(n) {
			if !yield(first + i) {
				return
			}
		}
	}
}

// Casts are all ways to divide the ranks into readers and writers, or into ranks of low and
// of high priority. An exclusive lock has only writers.
func (g Game) Casts() (casts [][]bool) {
	ranks := g.Tree.Ranks()
	if g.Lock.Spec.Kind == locks.Exclusive {
		return [][]bool{make([]bool, ranks)}
	}
	for bits := range 1 << ranks {
		cast := make([]bool, ranks)
		for p := range cast {
			cast[p] = bits>>p&1 == 1
		}
		casts = append(casts, cast)
	}
	return casts
}

// nameOfCast has a letter for each rank: r reads, or has low priority, and w writes.
func nameOfCast(cast []bool) string {
	name := make([]byte, len(cast))
	for p, reads := range cast {
		if name[p] = 'w'; reads {
			name[p] = 'r'
		}
	}
	return string(name)
}

// Searched is the contest of a cast, with the smallest thresholds.
func (g Game) Searched(cast []bool, faults sim.Faults, vary func(*locks.Options)) sim.System {
	o := g.Lock.options(lockstest.Thresholds{TL: 1, TR: 1, TW: 1}, g.Tree)
	vary(&o)
	if g.Way.Survives() {
		return g.ordeal(g.survival(o, cast), faults)
	}
	return g.play(g.contest(o, cast), faults, 0)
}

// Protocols are the settings of a lock for an exhaustive search: the lock as its row
// describes it, and with StepBack, which makes another protocol of it.
func Protocols(l Lock) (protocols []lockstest.Variant) {
	for _, v := range l.variants() {
		if v.Name == "" || v.Name == "StepBack" {
			protocols = append(protocols, v)
		}
	}
	return protocols
}

// Exhaust visits every state, for every cast.
func (g Game) Exhaust(faults sim.Faults, vary func(*locks.Options), limit sim.Limit) (total sim.Report) {
	total.Complete = true
	for _, cast := range g.Casts() {
		r := g.Searched(cast, faults, vary).Exhaust(limit)
		total.Runs += r.Runs
		total.Steps += r.Steps
		total.States += r.States
		total.Complete = total.Complete && r.Complete
		if total.Failure = r.Failure; r.Failure != nil {
			return total
		}
	}
	return total
}
