package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// machines are what the suite is executed on.
var machines = []string{"core:3", "node:2 core:3"}

func machine(t testing.TB, text string) *topology.Tree {
	t.Helper()
	tree, err := topology.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// machinesOf are those of machines on which a case can be executed.
func machinesOf(t testing.TB, c lockstest.Case) (trees []*topology.Tree) {
	if c.Topology != "" {
		return []*topology.Tree{machine(t, c.Topology)}
	}
	for _, text := range machines {
		if tree := machine(t, text); c.Fits(tree) {
			trees = append(trees, tree)
		}
	}
	if trees == nil {
		t.Fatalf("no machine for case %s", c.Name)
	}
	return trees
}

// A backend executes a case for a lock.
type backend struct {
	name    string
	execute func(t testing.TB, tree *topology.Tree, c lockstest.Case, s lockstest.Subject) error
}

// backends are where the suite is executed. The simulated ones come first: what
// hangs in memory for as long as patience lasts, they call a deadlock at once.
var backends = []backend{
	{"sim", simulated(someSchedules, byOperations, sim.Faults{})},
	{"sim-faults", simulated(someSchedules, byOperations, sim.Faults{Delays: 2, Pauses: 1})},
	{"sim-direct", simulated(someSchedules, direct, sim.Faults{Pauses: 1})},
	{"mem", inMemory(func(s lockstest.Subject) lockstest.Subject { return s })},
	{"mem-operations", inMemory(lockstest.Subject.ByOperations)},
	{"shm", inSharedMemory},
}

// TestConformance executes the suite for every lock in every backend.
func TestConformance(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, c := range lockstest.Cases() {
				conform(t, c, lockstest.Of(spec), backends...)
			}
		})
	}
}

// TestConformanceOfVariants executes it for what options make of a lock, where
// everything is late that may be, and in memory.
func TestConformanceOfVariants(t *testing.T) {
	for _, spec := range locks.All() {
		for _, v := range lockstest.Variants(spec)[1:] {
			t.Run(spec.Name+"/"+v.Name, func(t *testing.T) {
				t.Parallel()
				for _, c := range lockstest.Cases() {
					if !strings.HasPrefix(c.Name, "cost/") && !slices.Contains(v.Without, c.Name) { // costs are of the lock as its row describes it
						conform(t, c, lockstest.Of(spec).As(v), backends[0], backends[2], backends[3])
					}
				}
			})
		}
	}
}

// conform executes a case that concerns a lock on all machines, in one backend after
// the other, up to the first failure. A skip is what the lock's row or its handles
// leave out, and no test.
func conform(t *testing.T, c lockstest.Case, s lockstest.Subject, backends ...backend) {
	if !c.Concerns(s) {
		return
	}
	for _, w := range backends {
		for _, tree := range machinesOf(t, c) {
			if err := w.execute(t, tree, c, s); err != nil && !errors.Is(err, lockstest.ErrSkip) {
				t.Errorf("%s %s on %v: %v", w.name, c.Name, tree, err)
				return
			}
		}
	}
}

// inMemory executes a case with goroutines for ranks.
func inMemory(as func(lockstest.Subject) lockstest.Subject) func(testing.TB, *topology.Tree, lockstest.Case, lockstest.Subject) error {
	return func(t testing.TB, tree *topology.Tree, c lockstest.Case, s lockstest.Subject) error {
		return inOneProcess(t, c.For(as(s)), func(ctx context.Context) (rma.Fabric, error) {
			return mem.New(mem.Options{Topology: tree, Words: lockstest.Words, Context: ctx})
		})
	}
}

// inSharedMemory does so in memory that is shared between processes, of which
// there is only one.
func inSharedMemory(t testing.TB, tree *topology.Tree, c lockstest.Case, s lockstest.Subject) error {
	err := inOneProcess(t, c.For(s), func(ctx context.Context) (rma.Fabric, error) {
		return shm.Create(shm.Options{Topology: tree, Words: lockstest.Words, DynamicWords: 1, Context: ctx})
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", lockstest.ErrSkip, err)
	}
	return err
}

// inOneProcess executes a case with all ranks in this process. The first error ends
// the fabric, and with it what the other ranks wait for.
func inOneProcess(t testing.TB, c rmatest.Case, open func(context.Context) (rma.Fabric, error)) error {
	ctx, cancel := context.WithTimeout(t.Context(), rmatest.Patience)
	defer cancel()
	f, err := open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	body, err := c.Setup(f)
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	var ranks sync.WaitGroup
	var first sync.Once
	for p := range f.Topology().Ranks() {
		ranks.Go(func() {
			if e := rmatest.Perform(ctx, f, body, rma.Rank(p)); e != nil {
				first.Do(func() { err = e; f.Close() })
			}
		})
	}
	ranks.Wait()
	return err
}

// simulated plays a case under the schedules of n seeds, with everything late
// that may be, and once in virtual time.
func simulated(n int, way way, faults sim.Faults) func(testing.TB, *topology.Tree, lockstest.Case, lockstest.Subject) error {
	return func(_ testing.TB, tree *topology.Tree, c lockstest.Case, s lockstest.Subject) error {
		system := played(tree, c.For(s))
		system.Shared, system.Faults = way == direct, faults
		schedules := n
		if c.Rare {
			schedules *= 8
		}
		report := system.Seeds(0, schedules)
		if report.Failure == nil {
			system.Faults = sim.Faults{}
			report.Failure = system.Predict(sim.Machines()[0], 0).Failure
		}
		return report.Err()
	}
}

// played is a case as a system.
func played(tree *topology.Tree, c rmatest.Case) sim.System {
	return sim.System{
		Topology: tree,
		Words:    c.Words,
		MaxSteps: 1 << 18,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			body, err := c.Setup(f)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				return rmatest.Perform(ctx, f, body, w.Rank())
			}}, err
		},
	}
}

// TestCrowd has far more ranks than there are processors, each of which sleeps
// and is woken many times: a wake-up that is lost leaves it asleep.
func TestCrowd(t *testing.T) {
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			tree := machine(t, "node:4 core:8")
			for _, name := range []string{"exclusion/writers", "exclusion/readers-writers", "progress/hand-over",
				"progress/everybody", "try/contended", "abort/storm", "counts/contended"} {
				c, err := lockstest.CaseByName(name)
				if err != nil {
					t.Fatal(err)
				}
				s := lockstest.Of(spec)
				if !c.Concerns(s) {
					continue
				}
				for round := range someRounds {
					w := backends[2+round%2]
					if err := w.execute(t, tree, c, s); err != nil && !errors.Is(err, lockstest.ErrSkip) {
						t.Fatalf("%s %s with %d ranks, round %d: %v", w.name, name, tree.Ranks(), round, err)
					}
				}
			}
		})
	}
}
