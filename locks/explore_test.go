package locks_test

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
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

// An exploration makes much garbage and keeps little. Collecting it seldom saves a quarter of the
// processor time of all tests.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// The ways in which a lock accesses its words.
type way = explore.Way

const (
	byOperations = explore.ByOperations
	direct       = explore.Direct
)

// waysOf are the ways that a lock has.
func waysOf(spec locks.Spec) []way { return explore.Ways(spec) }

// gameOf is a game that TestPlay plays again.
func gameOf(spec locks.Spec, tree *topology.Tree, acquisitions, crashes int, way way) explore.Game {
	g := explore.Game{Lock: explore.Of(spec), Tree: tree, Acquisitions: acquisitions, Crashes: crashes, Way: way}
	g.Lock.Command = fmt.Sprintf("go test ./locks -run '^TestPlay$' -locks.play %q", g)
	return g
}

// search plays all searches of some kinds, for each lock that has them. The command orwl-lab sim plays the same.
func search(t *testing.T, states int, kinds ...explore.Kind) {
	t.Parallel()
	for i, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for k, p := range playsOf(spec, kinds...) {
				if states == 0 && !rings.Takes(i+k, 4) {
					continue
				}
				t.Run(p.Name, func(t *testing.T) {
					t.Parallel() // all states of RMA-RW take minutes
					r := p.Run(explore.Budget{States: states})
					if r.Failure != nil {
						t.Fatal(r.Failure)
					}
					if r.States < 5 || !r.Complete && states == 0 {
						t.Fatalf("the search is not complete: %+v", r)
					}
					if !r.Complete {
						t.Logf("more than %d states", states)
					}
				})
			}
		})
	}
}

// draw plays the seeds of all plays of some kinds, for each lock.
func draw(t *testing.T, all iter.Seq[uint64], kinds ...explore.Kind) {
	t.Parallel()
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, p := range playsOf(spec, kinds...) {
				if r := p.Seeds(all, nil); r.Failure != nil {
					t.Fatal(r.Failure)
				}
			}
		})
	}
}

// playsOf are the plays of some kinds.
func playsOf(spec locks.Spec, kinds ...explore.Kind) (plays []explore.Play) {
	for _, p := range explore.Plays(explore.Of(spec), explore.Setting{}) {
		if slices.Contains(kinds, p.Kind) {
			plays = append(plays, p)
		}
	}
	return plays
}

// TestExhaust visits every state of two ranks that acquire a lock twice, as neighbours and
// in different nodes.
func TestExhaust(t *testing.T) {
	rings.Computes(t)
	search(t, states.N(), explore.States)
}

// TestExhaustMore visits every state of three or four ranks that acquire once, of locks whose ranks take several parts. In ALock
// one is a neighbour of the home. In DecLock and ShiftLock ranks read or write.
func TestExhaustMore(t *testing.T) {
	rings.Computes(t)
	for _, c := range []struct{ name, machine string }{{"ALock", "node:3 core:1"}, {"DecLock", "core:4"}, {"ShiftLock", "core:3"}, {"MCSCR", "core:4"}, {"Reciprocating", "core:4"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(t, c.name)
			for _, way := range waysOf(spec) {
				g := gameOf(spec, machine(t, c.machine), 1, 0, way)
				r := g.Exhaust(sim.Faults{}, func(*locks.Options) {}, sim.Limit{States: states.N()})
				if r.Failure != nil {
					t.Fatalf("%s: %v", g, r.Failure)
				}
				if !r.Complete && states.N() == 0 {
					t.Errorf("%s: the search is not complete", g)
				}
				t.Logf("%s: %d states, all of them: %t", way, r.States, r.Complete)
			}
		})
	}
}

// smallMachines have few ranks. So a defect shows when few steps come in a certain order.
var smallMachines = []string{"core:2", "core:3", "node:2 core:2", "rack:2 node:2 core:2"}

// TestSeeds plays every lock on small machines.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	draw(t, seeds.All(), explore.Seeds)
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
				for _, text := range explore.MachinesOf256 {
					tree, acquisitions := machine(t, text), 20
					if tree.Ranks() > largest.N() {
						break
					}
					switch tree.Ranks() { // 20 acquisitions of each of 256 ranks take a second
					case 64:
						acquisitions = 4
					case 256:
						acquisitions = 2
					}
					g := gameOf(spec, tree, acquisitions, 0, way)
					r := g.Seeds(large.Part(1, each))
					if r.Failure != nil {
						t.Fatalf("%s: %v", g, r.Failure)
					}
					if r.Runs < least {
						t.Errorf("%s: %d games of %d ranks, want %d", g, r.Runs, g.Tree.Ranks(), least)
					}
				}
			})
		}
	}
}
