package locks_test

import (
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// How much is explored, and what to play again. The budgets of users are small, because each lock
// of the table pays them: see the costs at TestConformance. The telling mutants die with 4 seeds
// and 500 states. A failure prints the command that repeats it. The command ends in -seed or
// -schedule.
var (
	seeds       = rings.Seeds("locks.seeds", 3, 800, "TestSeeds, TestCrashSeeds: seeds for each lock on each small machine; TestMixed: half as many")
	large       = rings.Seeds("locks.large", 1, 64, "TestLarge: seeds for each lock on each machine")
	largest     = rings.Size("locks.ranks", 16, 256, 256, "TestLarge: ranks of the largest machine")
	states      = rings.Size("locks.states", 60, 400, 0, "TestExhaust: states of each search; all of them, if 0")
	crashStates = rings.Size("locks.crashstates", 60, 0, 0, "TestCrashAnywhere: states of each search; all of them, if 0")
	quitStates  = rings.Size("locks.quitstates", 60, 400, 20_000, "searches in which ranks give up or try: states of each; all of them, if 0")
	simulators  = rings.Size("locks.simulators", 1, 3, 3, "TestConformanceBySchedules: how many of the simulated backends; one: TestVariantsBySchedules does not play")
	schedules   = rings.Size("locks.schedules", 1, 2, 64, "TestConformanceBySchedules: schedules of each case on a simulated backend")

	plays = flag.String("locks.play", "", `TestPlay: what to play, "LOCK/TOPOLOGY/ACQUISITIONS/CRASHES/WAY"`)

	seed     = flag.Uint64("seed", 0, "TestPlay: the seed to play")
	schedule = flag.String("schedule", "", "TestPlay: the schedule to play, instead of a seed")
)

// machinesOf256 are the machines of Schmid, Besta and Hoefler, HPDC'16, §4.4: one to four
// levels, with the same number of children everywhere, and up to 256 ranks.
var machinesOf256 = []string{"core:4", "node:4 core:4", "rack:4 node:4 core:4", "group:4 rack:4 node:4 core:4"}

// An exploration makes much garbage and keeps little. Collecting it seldom saves a quarter of the
// processor time of all tests.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// game is a contest for a lock. A seed draws the parameters that the game leaves open.
type game struct {
	spec         locks.Spec
	tree         *topology.Tree
	acquisitions int
	crashes      int
	way          way
}

// way is the way in which a lock accesses its words.
type way string

const (
	byOperations way = "operations"
	direct       way = "direct" // by atomic instructions on memory that all ranks share
)

// waysOf are the ways that a lock has.
func waysOf(spec locks.Spec) []way {
	if spec.Operations {
		return []way{byOperations}
	}
	return []way{byOperations, direct}
}

func (g game) String() string {
	return fmt.Sprintf("%s/%s/%d/%d/%s", g.spec.Name, g.tree, g.acquisitions, g.crashes, g.way)
}

// system is the contest of a seed. The seed draws thresholds so small that they take
// effect, a variant of the lock, readers and writers, and the faults.
func (g game) system(seed uint64) sim.System {
	if g.way.survives() {
		return g.drawnOrdeal(seed)
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	ranks := g.tree.Ranks()
	o := lockstest.Thresholds{TL: 1 + rng.IntN(3), TR: 1 + rng.IntN(4), TW: 1 + rng.IntN(9)}.Options(g.spec, g.tree)
	o.Home = rma.Rank(rng.IntN(ranks))
	has := func(option string) bool { return slices.Contains(g.spec.Options, option) }
	if has("TDC") {
		o.TDC = 1 + rng.IntN(ranks)
	}
	variants := lockstest.Variants(g.spec)
	variants[rng.IntN(len(variants))].Set(&o)
	readers := make([]bool, ranks)
	for p := range readers {
		readers[p] = g.spec.Kind != locks.Exclusive && rng.IntN(2) == 0
	}
	c := g.contest(o, readers)
	if g.spec.Aborts == locks.Always && rng.IntN(2) == 0 {
		c.Quits = 8 << rng.IntN(6)
	}
	faults := sim.Faults{Crashes: g.crashes, Delays: rng.IntN(3), Pauses: rng.IntN(3)}
	return g.play(c, faults, seed)
}

func (g game) contest(o locks.Options, readers []bool) lockstest.Contest {
	return lockstest.Contest{
		Subject: lockstest.Of(g.spec), Options: o, Acquisitions: g.acquisitions,
		Reads: func(p rma.Rank) bool { return readers[p] },
	}
}

// play makes a system of a contest. Each run of it draws from the same seed.
func (g game) play(c lockstest.Contest, faults sim.Faults, seed uint64) sim.System {
	return sim.System{
		Topology: g.tree,
		Shared:   g.way == direct,
		Faults:   faults,
		Command:  fmt.Sprintf("go test ./locks -run '^TestPlay$' -locks.play %q", g),
		MaxSteps: 1 << 24,
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

// seeds plays the games of seeds. It stops at the first failure.
func (g game) seeds(all iter.Seq[uint64]) (total sim.Report) {
	for s := range all {
		r := g.system(s).Seed(s)
		total.Runs++
		total.Steps += r.Steps
		if total.Failure = r.Failure; r.Failure != nil {
			return total
		}
	}
	return total
}

// from are n seeds.
func from(first uint64, n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range uint64(n) {
			if !yield(first + i) {
				return
			}
		}
	}
}

// casts are all ways to divide the ranks into readers and writers, or into ranks of low and
// of high priority. An exclusive lock has only writers.
func (g game) casts() (casts [][]bool) {
	ranks := g.tree.Ranks()
	if g.spec.Kind == locks.Exclusive {
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

// searched is the contest of a cast, with the smallest thresholds.
func (g game) searched(cast []bool, faults sim.Faults, vary func(*locks.Options)) sim.System {
	o := lockstest.Thresholds{TL: 1, TR: 1, TW: 1}.Options(g.spec, g.tree)
	vary(&o)
	if g.way.survives() {
		return g.ordeal(g.survival(o, cast), faults)
	}
	return g.play(g.contest(o, cast), faults, 0)
}

// protocols are the settings of a lock for an exhaustive search: the lock as its row
// describes it, and with StepBack, which makes another protocol of it.
func protocols(spec locks.Spec) (vary []func(*locks.Options)) {
	for _, v := range lockstest.Variants(spec) {
		if v.Name == "" || v.Name == "StepBack" {
			vary = append(vary, v.Set)
		}
	}
	return vary
}

// exhaust visits every state, for every cast.
func (g game) exhaust(faults sim.Faults, vary func(*locks.Options), limit sim.Limit) (total sim.Report) {
	total.Complete = true
	for _, cast := range g.casts() {
		r := g.searched(cast, faults, vary).Exhaust(limit)
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

// TestExhaust visits every state of two ranks that acquire a lock twice, as neighbours and
// in different nodes.
func TestExhaust(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"core:2", "node:2 core:1"} {
				for _, vary := range protocols(spec) {
					for _, way := range waysOf(spec) {
						g := game{spec: spec, tree: machine(t, text), acquisitions: 2, way: way}
						t.Run(g.String(), func(t *testing.T) {
							t.Parallel() // all states of RMA-RW take minutes
							r := g.exhaust(sim.Faults{}, vary, sim.Limit{States: states.N()})
							if r.Failure != nil {
								t.Fatalf("%s: %v", g, r.Failure)
							}
							if r.States < 10 || !r.Complete && states.N() == 0 {
								t.Fatalf("%s: the search is not complete: %+v", g, r)
							}
							if !r.Complete {
								t.Logf("%s: more than %d states; -locks.states 0 visits all of them", g, states.N())
							}
						})
					}
				}
			}
		})
	}
}

// smallMachines have few ranks. So a defect shows when few steps come in a certain order.
var smallMachines = []string{"core:2", "core:3", "node:2 core:2", "rack:2 node:2 core:2"}

// TestSeeds plays every lock on small machines.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, way := range waysOf(spec) {
				for _, text := range smallMachines {
					g := game{spec: spec, tree: machine(t, text), acquisitions: 3, way: way}
					if r := g.seeds(seeds.All()); r.Failure != nil {
						t.Fatalf("%s: %v", g, r.Failure)
					}
				}
			}
		})
	}
}

// TestLarge plays a few rounds of every lock on machines of one to four levels. In CI it plays at
// least four games on each machine, up to 256 ranks: half of them by operations and half of them directly.
func TestLarge(t *testing.T) {
	rings.Computes(t)
	for _, spec := range locks.All() {
		ways := waysOf(spec)
		each := rings.Of(1, len(ways), 1) // a way plays one of so many games
		least := rings.Of(1, 4/each, 4)
		for _, way := range ways {
			t.Run(fmt.Sprint(spec.Name, "/", way), func(t *testing.T) {
				t.Parallel()
				for _, text := range machinesOf256 {
					g := game{spec: spec, tree: machine(t, text), acquisitions: 20, way: way}
					if g.tree.Ranks() > largest.N() {
						break
					}
					switch g.tree.Ranks() { // 20 acquisitions of each of 256 ranks take a second
					case 64:
						g.acquisitions = 4
					case 256:
						g.acquisitions = 2
					}
					r := g.seeds(large.Part(1, each))
					if r.Failure != nil {
						t.Fatalf("%s: %v", g, r.Failure)
					}
					if r.Runs < least {
						t.Errorf("%s: %d games of %d ranks, want %d", g, r.Runs, g.tree.Ranks(), least)
					}
				}
			})
		}
	}
}
