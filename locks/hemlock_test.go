package locks_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// hemlocks are the rows of the table whose ranks have one word for all locks.
var hemlocks = []string{"HEM", "HEM-CTR", "HEM-AH"}

func specOf(t *testing.T, name string) locks.Spec {
	t.Helper()
	spec, ok := locks.ByName(name)
	if !ok {
		t.Fatalf("no lock %q in the table", name)
	}
	return spec
}

// TestHemlockMemory tests the purpose of Hemlock (Uffmann 2022, §5.4.4): an additional
// lock costs the fabric one word. MCS needs one word, and two more for each rank.
func TestHemlockMemory(t *testing.T) {
	const ranks = 6
	// used is the number of words of all ranks that a set of n locks takes.
	used := func(name string, n int) int {
		const words = 1 << 12
		f, err := mem.New(mem.Options{Topology: topology.Flat(ranks), Words: words})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := specOf(t, name).NewSet(f, n, locks.Options{}); err != nil {
			t.Fatal(err)
		}
		_, err = f.Alloc(words + 1)
		full := new(rma.AllocError)
		if !errors.As(err, &full) {
			t.Fatalf("allocating more than there is: %v, want an AllocError", err)
		}
		return ranks * (words - full.Free)
	}
	// Every rank is home to the locks of one cache line, and then of five more.
	const few, more = 8 * ranks, 5 * 8 * ranks
	for name, want := range map[string]int{"HEM": 1, "HEM-CTR": 1, "HEM-AH": 1, "MCS": 2*ranks + 1} {
		words := used(name, few+more) - used(name, few)
		if words != want*more {
			t.Errorf("%d more locks of a set of %s take %d words of %d ranks, want %d each", more, name, words, ranks, want)
		}
	}
}

// nested is a system of ranks that hold several of n locks of a set at once.
func nested(spec locks.Spec, way way, n int, rounds [][]lockstest.Nesting) sim.System {
	return sim.System{Topology: topology.Flat(len(rounds)), Shared: way == direct, Setup: func(f *sim.Fabric) (sim.Program, error) {
		body, err := lockstest.Nested{Set: lockstest.SetOf(spec, n), Rounds: rounds}.Start(f)
		return sim.Program{Rank: body}, err
	}}
}

var (
	nestedStates    = rings.Size("locks.nestedstates", 100, 0, 0, "TestHemlockNestedExhaustively: states of each search; all of them, if 0")
	nestedSchedules = rings.Size("locks.nested", 8, 30, 1600, "TestHemlockNestedBySeed: schedules of each game")
)

// TestHemlockNestedExhaustively visits every state of small systems in which a
// rank holds two locks and others wait for each.
func TestHemlockNestedExhaustively(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	both, reversed := lockstest.Nesting{Locks: []int{0, 1}}, lockstest.Nesting{Locks: []int{0, 1}, FromFirst: true}
	first, second := lockstest.Nesting{Locks: []int{0}}, lockstest.Nesting{Locks: []int{1}}
	for i, row := range []struct {
		name    string
		scripts [][]lockstest.Nesting
	}{
		{"two ranks, both locks twice", [][]lockstest.Nesting{{both, reversed}, {reversed, both}}},
		{"a rank between two other ranks", [][]lockstest.Nesting{{both}, {first}, {second}}},
		{"the same, released in the order of acquiring", [][]lockstest.Nesting{{reversed}, {first}, {second}}},
		{"back for the lock just handed over", [][]lockstest.Nesting{{reversed, first}, {first}, {second}}},
	} {
		for k, lock := range hemlocks {
			for _, way := range []way{byOperations, direct} {
				if nestedStates.N() == 0 && !rings.Takes(i+k, 4) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", lock, way, row.name), func(t *testing.T) {
					report := nested(specOf(t, lock), way, 2, row.scripts).Exhaust(sim.Limit{States: nestedStates.N()})
					if err := report.Err(); err != nil {
						t.Fatal(err)
					}
					if !report.Complete && nestedStates.N() == 0 {
						t.Error("the search is not complete")
					}
					t.Logf("%d states", report.States)
				})
			}
		}
	}
}

// TestHemlockNestedBySeed does so with more ranks and locks. Every rank acquires in the
// order of the locks, so that no ranks can wait in a circle.
func TestHemlockNestedBySeed(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	const ranks, number, rounds = 4, 3, 4
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 10 {
		scripts := lockstest.Nestings(rng, ranks, number, rounds)
		for _, lock := range hemlocks {
			for _, way := range []way{byOperations, direct} {
				system := nested(specOf(t, lock), way, number, scripts)
				system.Faults = []sim.Faults{{}, {Delays: 2, Pauses: 2}}[i%2]
				if err := system.Seeds(uint64(i), nestedSchedules.N()).Err(); err != nil {
					t.Fatalf("%s, %s, %v: %v", lock, way, scripts, err)
				}
			}
		}
	}
}

// TestHemlockNestedInMemory does the same with goroutines, which sleep and must be woken.
// The hand-over of a lock wakes its waiter. The successor that frees the word of a holder
// of several locks wakes that holder.
func TestHemlockNestedInMemory(t *testing.T) {
	const ranks, number, rounds = 4, 3, 2000
	for _, lock := range hemlocks {
		t.Run(lock, func(t *testing.T) {
			f, err := mem.New(mem.Options{Topology: topology.Flat(ranks), Words: 64})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			set, err := specOf(t, lock).NewSet(f, number, locks.Options{})
			if err != nil {
				t.Fatal(err)
			}
			entered := make([]int, number) // each word under its lock: the race detector also checks
			want := make([]int, number)
			scripts := lockstest.Nestings(rand.New(rand.NewPCG(3, 4)), ranks, number, rounds)
			var all sync.WaitGroup
			for p, script := range scripts {
				w, err := f.Window(locks.Rank(p))
				if err != nil {
					t.Fatal(err)
				}
				for _, round := range script {
					for _, k := range round.Locks {
						want[k]++
					}
				}
				all.Go(func() {
					for _, round := range script {
						for _, k := range round.Locks {
							if err := set[k].At(w).Acquire(t.Context()); err != nil {
								t.Error(err)
								return
							}
							entered[k]++
						}
						for _, k := range round.Releases() {
							set[k].At(w).Release()
						}
					}
				})
			}
			all.Wait()
			if !slices.Equal(entered, want) {
				t.Errorf("the locks were entered %v times, want %v", entered, want)
			}
		})
	}
}

// TestHemlockNestingIsChecked plants defects that the checks above must find: ranks that
// nest in different orders, and two locks that share a tail.
func TestHemlockNestingIsChecked(t *testing.T) {
	there, back := lockstest.Nesting{Locks: []int{0, 1}}, lockstest.Nesting{Locks: []int{1, 0}}
	report := nested(specOf(t, "HEM"), byOperations, 2, [][]lockstest.Nesting{{there}, {back}}).Exhaust(sim.Limit{})
	if err := report.Err(); !errors.Is(err, sim.ErrDeadlock) {
		t.Errorf("two ranks that nest two locks in two orders: %v, want a deadlock", err)
	}
	broken := specOf(t, "HEM")
	broken.Words = func(*topology.Tree, locks.Options) locks.Words { return locks.Words{Rank: 1, Shared: true} }
	report = nested(broken, byOperations, 2, [][]lockstest.Nesting{{there}, {there}}).Exhaust(sim.Limit{})
	if err := report.Err(); err == nil || strings.Contains(err.Error(), "setup") {
		t.Errorf("two locks with one tail: %v, want a broken promise", err)
	}
}
