package printed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

var (
	seeds  = rings.Size("printed.seeds", 40, 400, 4000, "seeds for each lock on each machine")
	states = rings.Size("printed.states", 400, 0, 0, "states of each search; all of them, if 0")
)

// subject is a lock for the suite of package locks.
func subject(l Lock) lockstest.Subject {
	return lockstest.Subject{Spec: l.Spec, New: func(f rma.Fabric, o locks.Options) (lockstest.At, error) {
		at, err := l.New(f, o)
		return at, err
	}}
}

func machine(t *testing.T, text string) *topology.Tree {
	t.Helper()
	tree, err := topology.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// eachWay runs a test for each lock and each way in which it reaches its words.
func eachWay(t *testing.T, test func(t *testing.T, l Lock, shared bool)) {
	for _, l := range All() {
		for _, shared := range []bool{false, true} {
			if shared && l.Operations {
				continue
			}
			t.Run(fmt.Sprintf("%s/shared=%t", l.Name, shared), func(t *testing.T) { test(t, l, shared) })
		}
	}
}

// TestConformance holds each lock to the contract of package locks, in memory and in the simulator.
func TestConformance(t *testing.T) {
	eachWay(t, func(t *testing.T, l Lock, shared bool) {
		s := subject(l)
		if !shared {
			s = s.ByOperations()
		}
		for _, c := range lockstest.Cases() {
			tree := machine(t, "node:2 core:3")
			if c.Topology != "" {
				tree = machine(t, c.Topology)
			}
			if !c.Concerns(s) {
				continue
			}
			system := sim.System{Topology: tree, Words: lockstest.Words, MaxSteps: 1 << 18, Shared: shared, Setup: func(f *sim.Fabric) (sim.Program, error) {
				body, err := c.For(s).Setup(f)
				return sim.Program{Rank: func(ctx context.Context, w rma.Window) error { return rmatest.Perform(ctx, f, body, w.Rank()) }}, err
			}}
			if err := system.Seeds(0, 3).Err(); err != nil && !errors.Is(err, lockstest.ErrSkip) {
				t.Errorf("%s on %v: %v", c.Name, tree, err)
			}
		}
		if t.Failed() {
			return // the simulator says at once what waits for ever; memory does not
		}
		for _, c := range lockstest.Cases() {
			if c.Concerns(s) && c.Topology == "" {
				if err := inMemory(t, machine(t, "node:2 core:3"), c.For(s)); err != nil && !errors.Is(err, lockstest.ErrSkip) {
					t.Errorf("%s in memory: %v", c.Name, err)
				}
			}
		}
	})
}

// inMemory executes a case with ranks that are goroutines. The first error closes the fabric.
func inMemory(t *testing.T, tree *topology.Tree, c rmatest.Case) error {
	ctx, cancel := context.WithTimeout(t.Context(), rmatest.Patience)
	defer cancel()
	f, err := mem.New(mem.Options{Topology: tree, Words: lockstest.Words, Context: ctx})
	if err != nil {
		return err
	}
	defer f.Close()
	body, err := c.Setup(f)
	if err != nil {
		return err
	}
	var ranks sync.WaitGroup
	var first sync.Once
	for p := range tree.Ranks() {
		ranks.Go(func() {
			if e := rmatest.Perform(ctx, f, body, rma.Rank(p)); e != nil {
				first.Do(func() { err = e; f.Close() })
			}
		})
	}
	ranks.Wait()
	return err
}

// contest is ranks that acquire a lock again and again.
func contest(s lockstest.Subject, tree *topology.Tree, shared bool, acquisitions int, faults sim.Faults) sim.System {
	return sim.System{Topology: tree, Shared: shared, Faults: faults, MaxSteps: 1 << 20, Setup: func(f *sim.Fabric) (sim.Program, error) {
		m, err := lockstest.Contest{Subject: s, Acquisitions: acquisitions}.Start(f)
		if err != nil {
			return sim.Program{}, err
		}
		return sim.Program{Rank: m.Rank, Check: m.Check, State: m.State}, nil
	}}
}

// TestExhaust visits the states of two ranks that acquire a lock twice, with and without a crash.
func TestExhaust(t *testing.T) {
	rings.Computes(t)
	eachWay(t, func(t *testing.T, l Lock, shared bool) {
		for _, crashes := range []int{0, 1} {
			r := contest(subject(l), topology.Flat(2), shared, 2, sim.Faults{Crashes: crashes}).Exhaust(sim.Limit{States: states.N()})
			if r.Failure != nil || r.States < 10 || !r.Complete && states.N() == 0 {
				t.Errorf("%d crashes: %+v", crashes, r)
			}
		}
	})
}

// TestSeeds plays schedules of more ranks, with faults.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	eachWay(t, func(t *testing.T, l Lock, shared bool) {
		for i, text := range []string{"core:3", "node:2 core:2", "rack:2 node:2 core:2"} {
			faults := []sim.Faults{{Delays: 2, Pauses: 2}, {}, {Crashes: 1}}[i]
			if err := contest(subject(l), machine(t, text), shared, 3, faults).Seeds(0, seeds.N()).Err(); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}

// TestNested plays Hemlocks whose ranks hold several of them at once, so that all successors wait
// for one word.
func TestNested(t *testing.T) {
	rings.Computes(t)
	const ranks, number, rounds = 4, 3, 4
	eachWay(t, func(t *testing.T, l Lock, shared bool) {
		if !l.WordsOn(topology.Flat(ranks)).Shared {
			return
		}
		set := func(f rma.Fabric) (ats []lockstest.At, err error) {
			all, err := newSet(l.Spec, newHemlock(l.Name == "HEM-Overlap"), f, number, locks.Options{})
			for _, at := range all {
				ats = append(ats, at)
			}
			return ats, err
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range 10 {
			n := lockstest.Nested{Set: set, Rounds: lockstest.Nestings(rng, ranks, number, rounds)}
			system := sim.System{Topology: topology.Flat(ranks), Shared: shared, Setup: func(f *sim.Fabric) (sim.Program, error) {
				body, err := n.Start(f)
				return sim.Program{Rank: body}, err
			}}
			system.Faults = []sim.Faults{{}, {Delays: 2, Pauses: 2}}[i%2]
			if err := system.Seeds(uint64(i), seeds.N()).Err(); err != nil {
				t.Fatalf("%v: %v", n.Rounds, err)
			}
		}
	})
}
