package locks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
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

// heard is a window of a survivor that reports the context of each wait.
type heard struct {
	rma.Survivor
	waits chan context.Context
}

func (w heard) AwaitIn(ctx context.Context, e *rma.Epoch, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	w.waits <- ctx
	return w.Survivor.AwaitIn(ctx, e, target, disp, until)
}

// afterLosses makes a lock for three ranks that know of some losses. Rank 0 holds it. Rank 1 waits for
// it, and then rank 2 behind it. Their errors come through acquired; waited are the contexts of their waits.
func afterLosses(t *testing.T, name string, losses int) (f *mem.Fabric, holder locks.Mutex, acquired chan error, waited [2]context.Context) {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: topology.Flat(3 + losses), Survive: true})
	must(err)
	t.Cleanup(func() { f.Close() })
	spec, _ := locks.ByName(name)
	l, err := spec.New(f, locks.Options{})
	must(err)
	for p := range losses {
		f.Lose(rma.Rank(3+p), "the test says so")
	}
	side := func(p rma.Rank) (locks.Mutex, chan context.Context) {
		w, err := f.Window(p)
		must(err)
		waits := make(chan context.Context, 9)
		return l.At(heard{w.(rma.Survivor), waits}), waits
	}
	holder, _ = side(0)
	must(holder.Acquire(t.Context()))
	acquired = make(chan error, 2)
	for i := range waited {
		m, waits := side(rma.Rank(1 + i))
		go func() {
			err := m.Acquire(t.Context())
			if err == nil {
				m.Release()
			}
			acquired <- err
		}()
		waited[i] = <-waits
	}
	return f, holder, acquired, waited
}

// After any number of losses ranks that wait get the lock, also where an epoch has no X any more. A
// waiter minds its context if the row says that it gives up.
func TestSurvivorsOfManyLosses(t *testing.T) {
	for _, name := range []string{"R-MCS", "R-TKT"} {
		for losses := range 11 {
			_, holder, acquired, waited := afterLosses(t, name, losses)
			holder.Release()
			if err := errors.Join(<-acquired, <-acquired); err != nil {
				t.Errorf("%s, %d losses: %v", name, losses, err)
			}
			for _, ctx := range waited {
				if minds := ctx.Done() != nil; minds != (name == "R-MCS") {
					t.Errorf("%s, %d losses: a waiter minds its context: %t", name, losses, minds)
				}
			}
		}
	}
}

// When the windows fail, all ranks that wait return.
func TestSurvivorsThatFail(t *testing.T) {
	for _, losses := range []int{0, 1, 9} {
		f, _, acquired, _ := afterLosses(t, "R-MCS", losses)
		f.Close()
		for range 2 {
			if err := <-acquired; !errors.Is(err, locks.ErrBroken) {
				t.Errorf("%d losses: acquiring on a window that has failed returns %v", losses, err)
			}
		}
	}
}
