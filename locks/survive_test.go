package locks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// Tests of recoverable locks, whose ranks crash at any step, also while they repair.
var (
	survivalSeeds  = rings.Seeds("locks.survivals", 45, 100_000, "TestSurvivalSeeds: seeds for all recoverable locks and machines together")
	survivalStates = rings.Size("locks.survivalstates", 100, 1_000, 200_000, "TestSurvivesAnywhere: states of each search; all of them, if 0")
)

// survivors are the ways of games with windows that survive.
const (
	survivingOperations way = "surviving-operations"
	survivingDirect     way = "surviving-direct"
)

// survives reports whether the windows survive, and the contest is a lockstest.Survival.
func (w way) survives() bool { return w == survivingOperations || w == survivingDirect }

// recoverable are the rows of locks that survive.
func recoverable() (all []locks.Spec) {
	for _, s := range locks.All() {
		if s.Recoverable {
			all = append(all, s)
		}
	}
	return all
}

// everyRecoverable are the rows, and R-X for each other lock of the table that is not made of others.
func everyRecoverable() (all []locks.Spec) {
	for _, s := range locks.All() {
		if r, ok := locks.ByName("R-" + s.Name); ok {
			all = append(all, r)
		}
	}
	return all
}

// ordeal makes a system of a survival.
func (g game) ordeal(s lockstest.Survival, faults sim.Faults) sim.System {
	return sim.System{
		Topology: g.tree,
		Words:    1 << 12,
		Shared:   g.way == survivingDirect,
		Survive:  true,
		Faults:   faults,
		Command:  fmt.Sprintf("go test ./locks -run '^TestPlay$' -locks.play %q", g),
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
func (g game) survival(o locks.Options, readers []bool) lockstest.Survival {
	return lockstest.Survival{
		Subject: lockstest.Of(g.spec), Options: o, Acquisitions: g.acquisitions,
		Reads: func(p rma.Rank) bool { return readers[p] },
	}
}

// drawnOrdeal is the survival of a seed, with up to as many crashes as the game has.
func (g game) drawnOrdeal(seed uint64) sim.System {
	rng := rand.New(rand.NewPCG(seed, 9))
	ranks := g.tree.Ranks()
	o := lockstest.Thresholds{TL: 1 + rng.IntN(3), TR: 1 + rng.IntN(4), TW: 1 + rng.IntN(9)}.Options(g.spec, g.tree)
	o.Home = rma.Rank(rng.IntN(ranks))
	readers := make([]bool, ranks)
	for p := range readers {
		readers[p] = g.spec.Kind == locks.ReaderWriter && rng.IntN(2) == 0
	}
	faults := sim.Faults{Crashes: g.crashes, Cancels: rng.IntN(2), Delays: rng.IntN(3), Pauses: rng.IntN(3)}
	return g.ordeal(g.survival(o, readers), faults)
}

// waysToSurvive are the ways in which a recoverable lock is played.
func waysToSurvive(spec locks.Spec) []way {
	if spec.Operations {
		return []way{survivingOperations}
	}
	return []way{survivingOperations, survivingDirect}
}

// ordeals are the small systems of exhaustive searches: with two and three ranks, any of which
// crash, and one stays.
var ordeals = []struct {
	machine               string
	acquisitions, crashes int
}{{"core:2", 1, 1}, {"core:2", 2, 1}, {"node:2 core:1", 2, 1}, {"core:3", 1, 1}, {"core:3", 1, 2}, {"core:3", 2, 1}}

// TestSurvivesAnywhere crashes any rank at every point of every schedule, and another one after that.
func TestSurvivesAnywhere(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range recoverable() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, c := range ordeals {
				for _, way := range waysToSurvive(spec) {
					g := game{spec: spec, tree: machine(t, c.machine), acquisitions: c.acquisitions, crashes: c.crashes, way: way}
					t.Run(fmt.Sprint(g.tree, " ", g.acquisitions, " ", g.crashes, " ", way), func(t *testing.T) {
						t.Parallel()
						r := g.exhaust(sim.Faults{Crashes: c.crashes}, func(*locks.Options) {}, sim.Limit{States: survivalStates.N()})
						if r.Failure != nil {
							t.Fatalf("%s: %v", g, r.Failure)
						}
						t.Logf("%d states, all of them: %t", r.States, r.Complete)
					})
				}
			}
		})
	}
}

// survivalMachines are those of TestSurvivalSeeds.
var survivalMachines = []string{"core:2", "core:3", "node:2 core:2", "rack:2 node:2 core:2", "node:2 core:6"}

// survivalGame is the game that a seed draws. All ranks but one may crash.
func survivalGame(t *testing.T, spec locks.Spec, seed uint64) game {
	rng := rand.New(rand.NewPCG(seed, 11))
	ways := waysToSurvive(spec)
	g := game{spec: spec, tree: machine(t, survivalMachines[rng.IntN(len(survivalMachines))]), acquisitions: 1 + rng.IntN(6), way: ways[rng.IntN(len(ways))]}
	g.crashes = 1 + rng.IntN(g.tree.Ranks()-1)
	return g
}

// TestSurvivalSeeds plays R-X, for every lock X that is not made of others, on machines of up to twelve ranks, all of which but one may crash.
func TestSurvivalSeeds(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	all := everyRecoverable()
	for _, spec := range all {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			runs, steps := 0, 0
			for s := range survivalSeeds.Part(1, len(all)) {
				g := survivalGame(t, spec, s)
				r := g.system(s).Seed(s)
				runs, steps = runs+1, steps+r.Steps
				if r.Failure != nil {
					t.Fatalf("%s: %v", g, r.Failure)
				}
			}
			t.Logf("%d seeds, %d steps", runs, steps)
		})
	}
}

// freshQueues is a design that is wrong: a new MCS for each epoch, and no word that names the
// owner. A rank that hears of a loss enters beside a living owner of the epoch before.
type freshQueues struct {
	w     rma.Survivor
	sides [3]*locks.Lock
	owned locks.Mutex
	fence *uint64
}

func (q *freshQueues) Acquire(ctx context.Context) error {
	for {
		e := q.w.Epoch()
		m := q.sides[e.Number()].At(rma.During(q.w, e))
		if err := m.Acquire(ctx); err == nil {
			q.owned = m
			*q.fence++
			return nil
		} else if e.Err() == nil {
			return err
		}
	}
}

func (q *freshQueues) Release()      { q.w.FlushAll(); q.owned.Release() }
func (q *freshQueues) Fence() uint64 { return *q.fence }
func (q *freshQueues) Prior() error {
	if q.w.Epoch().Number() > 0 {
		return locks.ErrPriorHolderLost
	}
	return nil
}

// TestSurvivalRejects plays a wrong design, and locks that do not survive. The survival must reject them.
func TestSurvivalRejects(t *testing.T) {
	rings.Computes(t)
	mcs, _ := locks.ByName("MCS")
	for name, subject := range map[string]lockstest.Subject{
		"fresh queues": {Spec: mcs, New: func(f rma.Fabric, o locks.Options) (lockstest.At, error) {
			var sides [3]*locks.Lock
			var err error
			for i := range sides {
				if sides[i], err = mcs.New(f, o); err != nil {
					return nil, err
				}
			}
			fence := new(uint64)
			return func(w rma.Window) locks.Mutex {
				return &freshQueues{w: w.(rma.Survivor), sides: sides, fence: fence}
			}, nil
		}},
		"MCS": {Spec: mcs, New: func(f rma.Fabric, o locks.Options) (lockstest.At, error) {
			l, err := mcs.New(f, o)
			fence := new(uint64)
			return func(w rma.Window) locks.Mutex { return deaf{l.At(w), fence} }, err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := game{spec: mcs, tree: machine(t, "core:3"), acquisitions: 2, crashes: 1, way: survivingDirect}
			s := g.survival(locks.Options{}, make([]bool, 3))
			s.Subject = subject
			if r := g.ordeal(s, sim.Faults{Crashes: 1}).Exhaust(sim.Limit{States: 100_000}); r.Failure == nil {
				t.Errorf("%+v: a survival accepts it", r)
			} else {
				t.Log(r.Failure.Err)
			}
		})
	}
}

// deaf is a lock that knows nothing of losses.
type deaf struct {
	locks.Mutex
	fence *uint64
}

func (d deaf) Fence() uint64 { *d.fence++; return *d.fence }
func (d deaf) Prior() error  { return nil }
