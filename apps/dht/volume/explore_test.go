package volume_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// How much is explored.
var (
	seeds  = rings.Seeds("volume.seeds", 100, 4800, "TestSeeds: seeds for each discipline")
	states = rings.Size("volume.states", 0, 0, 0, "TestExhaust: states of each search; all of them, if 0")

	seed     = flag.Int64("seed", -1, "TestSeeds, TestCrash, TestCancel: the one seed to play")
	schedule = flag.String("schedule", "", "TestExhaust: the one schedule to play")
)

// played calls play with one of share seeds, or with the one seed that the flag names.
func played(share int, play func(seed uint64)) {
	if *seed >= 0 {
		play(uint64(*seed))
		return
	}
	for s := range seeds.Part(1, share) {
		play(s)
	}
}

// game is ranks that do deeds, each its own, on a volume in the simulator.
type game struct {
	options volume.Options
	deeds   [][]deed // by rank
	spoil   func(w rma.Window) rma.Window
	faults  sim.Faults
	test    string // its name, to repeat it
}

func (g game) system(tree *topology.Tree) sim.System {
	return sim.System{Topology: tree, Faults: g.faults, Command: "go test ./apps/dht/volume -run '" + g.test + "'", Setup: func(f *sim.Fabric) (sim.Program, error) {
		v, err := volume.New(f, g.options)
		c := new(clerk)
		return sim.Program{
			Rank: func(ctx context.Context, w rma.Window) error {
				if g.spoil != nil {
					w = g.spoil(w)
				}
				s, err := v.At(ctx, w)
				if err != nil {
					return err
				}
				for _, d := range g.deeds[w.Rank()] {
					if err := c.do(ctx, int(w.Rank()), s, d); err != nil {
						return err
					}
				}
				return nil
			},
			Check: c.judge,
			State: c.print.Load,
		}, err
	}}
}

// ofSeed is a game for a seed: few keys, long chains or none. The heap has room for all keys but one,
// which has the table's cell: so no cell may be lost.
func ofSeed(discipline string, ranks int, seed uint64) game {
	rng := rand.New(rand.NewPCG(seed, 7))
	deeds, keys := drawn(rng, ranks, 4)
	return game{deeds: deeds, options: volume.Options{Discipline: discipline, Owner: rma.Rank(rng.IntN(ranks)),
		Layout: volume.Layout{Buckets: 1 + rng.IntN(2), Heap: max(0, keys-1)}}}
}

// TestSeeds plays random programs in random orders of whatever may happen in
// another order, and looks whether what came out is linearizable.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	for _, discipline := range volume.Disciplines() {
		t.Run(discipline, func(t *testing.T) {
			t.Parallel()
			played(1, func(seed uint64) {
				g := ofSeed(discipline, 3, seed)
				g.test = t.Name()
				if r := g.system(parsed(t, "node:3 core:1")).Seed(seed); r.Failure != nil {
					t.Fatal(r.Failure)
				}
			})
		})
	}
}

// TestCrash plays the same with a rank that crashes: everybody comes to an end.
func TestCrash(t *testing.T) {
	rings.Computes(t)
	for _, discipline := range volume.Disciplines() {
		trouble(t, discipline, func(g *game) { g.faults.Crashes = 1 })
	}
}

// TestCancel plays the same with a rank whose context ends: what it did not do, it
// has not done.
func TestCancel(t *testing.T) {
	rings.Computes(t)
	for _, discipline := range volume.Disciplines() {
		trouble(t, discipline, func(g *game) { g.faults.Cancels = 1 })
	}
}

// trouble plays random programs in which something else happens, too.
func trouble(t *testing.T, discipline string, vary func(g *game)) {
	t.Run(discipline, func(t *testing.T) {
		t.Parallel()
		played(3, func(seed uint64) {
			g := ofSeed(discipline, 3, seed)
			g.test = t.Name()
			vary(&g)
			if r := g.system(parsed(t, "node:3 core:1")).Seed(seed); r.Failure != nil {
				t.Fatal(r.Failure)
			}
		})
	})
}

// duels are pairs of programs that meet where it is narrow: key k has value k+1.
var duels = map[string][2][]deed{
	"insert and look":      {{{insert: true, value: 1}, {insert: true, key: 1, value: 2}}, {{key: 1}, {}, {key: 1}}},
	"insert two keys":      {{{insert: true, value: 1}, {key: 1}}, {{insert: true, key: 1, value: 2}, {}}},
	"insert behind others": {{{insert: true, value: 1}, {insert: true, key: 1, value: 2}}, {{insert: true, key: 2, value: 3}, {key: 1}}},
}

// TestExhaust visits every state, or many, of two ranks that meet.
func TestExhaust(t *testing.T) {
	rings.Computes(t)
	for name, duel := range duels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := game{test: t.Name(), deeds: duel[:], options: volume.Options{Discipline: volume.AtomicsOnly, Layout: volume.Layout{Buckets: 1, Heap: 4}}}
			if *schedule != "" {
				if r, err := g.system(topology.Flat(2)).Replay(*schedule); err != nil || r.Failure != nil {
					t.Fatal(err, r.Failure)
				}
				return
			}
			r := g.system(topology.Flat(2)).Exhaust(sim.Limit{States: states.N()})
			if r.Failure != nil {
				t.Fatal(r.Failure)
			}
			if r.States < 100 || !r.Complete && states.N() == 0 {
				t.Fatalf("the search did not get through: %+v", r)
			}
		})
	}
}

// forgetful is a window whose flushes sometimes do nothing: a broken specimen that the
// exploration must reject.
type forgetful struct {
	rma.Window
	forgets func(flush int) bool
	flushes int
}

func (w *forgetful) Flush(target rma.Rank) {
	if w.flushes++; !w.forgets(w.flushes) {
		w.Window.Flush(target)
	}
}

// hasty is a window that stores at the latest possible moment: a Put is held back
// until after the next CAS, as if a cell were linked before it is written.
type hasty struct {
	rma.Window
	held []func()
}

func (w *hasty) Put(target rma.Rank, disp rma.Disp, value uint64) {
	w.held = append(w.held, func() { w.Window.Put(target, disp, value); w.Window.Flush(target) })
}

func (w *hasty) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	v := w.Window.CAS(target, disp, old, new)
	w.settle()
	return v
}

func (w *hasty) Get(target rma.Rank, disp rma.Disp) uint64 {
	w.settle()
	return w.Window.Get(target, disp)
}

func (w *hasty) settle() {
	for _, put := range w.held {
		put()
	}
	w.held = nil
}

// TestBroken shows that the exploration would find a missing flush and a cell
// that is linked before it is written.
func TestBroken(t *testing.T) {
	rings.Computes(t)
	spoilers := map[string]func(w rma.Window) rma.Window{
		"no flush": func(w rma.Window) rma.Window { return &forgetful{Window: w, forgets: func(int) bool { return true }} },
		"every third flush": func(w rma.Window) rma.Window {
			return &forgetful{Window: w, forgets: func(n int) bool { return n%3 == 0 }}
		},
		"link before writing": func(w rma.Window) rma.Window { return &hasty{Window: w} },
	}
	for name, spoil := range spoilers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(1000) {
				g := ofSeed(volume.AtomicsAndGets, 3, seed)
				g.spoil = spoil
				if r := g.system(parsed(t, "node:3 core:1")).Seed(seed); r.Failure != nil {
					if text := r.Failure.Error(); !strings.Contains(text, "not linearizable") && !errors.Is(r.Failure, sim.ErrDeadlock) {
						t.Fatalf("found otherwise than expected: %s", text)
					}
					return
				}
			}
			t.Error("nothing was found")
		})
	}
}
