package locks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// Tests of recoverable locks, whose ranks crash at any step, also while they repair.
var (
	survivalSeeds  = rings.Seeds("locks.survivals", 45, 100_000, "TestSurvivalSeeds: seeds for all recoverable locks and machines together")
	survivalStates = rings.Size("locks.survivalstates", 100, 1_000, 200_000, "TestSurvivesAnywhere: states of each search; all of them, if 0")
)

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

// ordeals are the small systems of exhaustive searches. They have two or three ranks. Any of them crash,
// and one stays.
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
				for _, way := range explore.WaysToSurvive(spec) {
					g := gameOf(spec, machine(t, c.machine), c.acquisitions, c.crashes, way)
					t.Run(fmt.Sprint(g.Tree, " ", g.Acquisitions, " ", g.Crashes, " ", way), func(t *testing.T) {
						t.Parallel()
						r := g.Exhaust(sim.Faults{Crashes: c.crashes}, func(*locks.Options) {}, sim.Limit{States: survivalStates.N()})
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

// survivalMachines are the machines of TestSurvivalSeeds.
var survivalMachines = []string{"core:2", "core:3", "node:2 core:2", "rack:2 node:2 core:2", "node:2 core:6"}

// survivalGame is the game that a seed draws. All ranks but one may crash.
func survivalGame(t *testing.T, spec locks.Spec, seed uint64) explore.Game {
	rng := rand.New(rand.NewPCG(seed, 11))
	ways := explore.WaysToSurvive(spec)
	tree, acquisitions, way := machine(t, survivalMachines[rng.IntN(len(survivalMachines))]), 1+rng.IntN(6), ways[rng.IntN(len(ways))]
	return gameOf(spec, tree, acquisitions, 1+rng.IntN(tree.Ranks()-1), way)
}

// TestSurvivalSeeds plays R-X, for every lock X that is not made of others, on machines of up to twelve ranks. All but one may crash.
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
				r := g.System(s).Seed(s)
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
			g := gameOf(mcs, machine(t, "core:3"), 2, 1, explore.SurvivingDirect)
			g.Lock.Subject, g.Lock.Fixed = subject, new(locks.Options)
			if r := g.Exhaust(sim.Faults{Crashes: 1}, func(*locks.Options) {}, sim.Limit{States: 100_000}); r.Failure == nil {
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
