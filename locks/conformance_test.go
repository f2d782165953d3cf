package locks_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// machines are the machines on which the suite is executed.
var machines = []string{"core:3", "node:2 core:3"}

func machine(t testing.TB, text string) *topology.Tree {
	t.Helper()
	tree, err := topology.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// machinesOf selects the machines on which a case can be executed.
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

// A backend executes a case with a lock. A simulated one does so in the same way each time.
type backend struct {
	name    string
	execute func(t testing.TB, tree *topology.Tree, c lockstest.Case, s lockstest.Subject) error
}

// backends execute the suite. The simulated backends come first. They report a deadlock at
// once, while the others wait for as long as rmatest.Patience.
var backends = []backend{
	{"sim", simulated(byOperations, sim.Faults{}, true)},
	{"sim-faults", simulated(byOperations, sim.Faults{Delays: 2, Pauses: 1}, false)}, // sim has the same virtual time
	{"sim-direct", simulated(direct, sim.Faults{Pauses: 1}, true)},
	{"mem", inMemory(func(s lockstest.Subject) lockstest.Subject { return s })},
	{"mem-operations", inMemory(lockstest.Subject.ByOperations)},
	{"shm", inSharedMemory},
}

// backendsOf are the backends with these names, in the order of the names.
func backendsOf(names ...string) (all []backend) {
	for _, name := range names {
		i := slices.IndexFunc(backends, func(b backend) bool { return b.name == name })
		all = append(all, backends[i])
	}
	return all
}

// TestConformance executes the suite for every lock in memory.
//
// One more row in the table costs the tests of users 0.2 s of a processor, with 32 rows on a 2-vCPU
// machine, and the gate explore 3 s:
//
//	                                                      users     gate explore
//	the suite by schedules, and of variants                0.05 s    0.5 s
//	TestSeeds, TestCrashSeeds, TestMixed                   0.03 s    0.6 s
//	TestLarge                                              0.02 s    1.0 s
//	TestExhaust, TestCrashAnywhere, cancels                0.04 s    0.8 s (cancels: 0.3 s if it gives up)
//	TestBounds, TestCombinations                           0.02 s    0.2 s
//
// The suite in memory takes 0.03 s, and with processes and nodes 0.02 s. A test that each row pays
// for keeps a share of this.
func TestConformance(t *testing.T) {
	t.Parallel()
	inMemory := backendsOf("mem", "mem-operations", "shm")
	if rings.Now() == rings.User {
		inMemory = inMemory[:2] // TestConformanceOfProcesses shares memory with another process
	}
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, c := range lockstest.Cases() {
				conform(t, c, lockstest.Of(spec), inMemory...)
			}
		})
	}
}

// TestConformanceBySchedules executes the suite for every lock in the simulator.
func TestConformanceBySchedules(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	simulated := backendsOf("sim", "sim-direct", "sim-faults")[:simulators.N()]
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, c := range lockstest.Cases() {
				conform(t, c, lockstest.Of(spec), simulated...)
			}
		})
	}
}

// TestConformanceOfVariants executes the suite for the variants of each lock in memory.
func TestConformanceOfVariants(t *testing.T) {
	t.Parallel()
	conformVariants(t, "mem")
}

// TestVariantsBySchedules executes the suite for the variants of each lock in the simulator, with
// every allowed delay.
func TestVariantsBySchedules(t *testing.T) {
	rings.Computes(t)
	if simulators.N() < 2 {
		t.Skip("this test takes long: -locks.simulators 3")
	}
	t.Parallel()
	conformVariants(t, "sim", "sim-direct")
}

func conformVariants(t *testing.T, names ...string) {
	for _, spec := range locks.All() {
		for _, v := range lockstest.Variants(spec)[1:] {
			t.Run(spec.Name+"/"+v.Name, func(t *testing.T) {
				t.Parallel()
				for _, c := range lockstest.Cases() {
					if !strings.HasPrefix(c.Name, "cost/") && !slices.Contains(v.Without, c.Name) { // the costs of a row are without options
						conform(t, c, lockstest.Of(spec).With(v), backendsOf(names...)...)
					}
				}
			})
		}
	}
}

// conform executes a case with a lock on all machines, on one backend after the other. It
// stops at the first failure. A case that does not concern the lock is left out, and the
// test does not report it as skipped.
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

// inMemory executes a case with ranks that are goroutines.
func inMemory(as func(lockstest.Subject) lockstest.Subject) func(testing.TB, *topology.Tree, lockstest.Case, lockstest.Subject) error {
	return func(t testing.TB, tree *topology.Tree, c lockstest.Case, s lockstest.Subject) error {
		return inOneProcess(t, c.For(as(s)), func(ctx context.Context) (rma.Fabric, error) {
			return mem.New(mem.Options{Topology: tree, Words: lockstest.Words, Context: ctx})
		})
	}
}

// inSharedMemory does so in memory that processes can share. There is only one process.
func inSharedMemory(t testing.TB, tree *topology.Tree, c lockstest.Case, s lockstest.Subject) error {
	err := inOneProcess(t, c.For(s), func(ctx context.Context) (rma.Fabric, error) {
		return shm.Create(shm.Options{Topology: tree, Words: lockstest.Words, DynamicWords: 1, Context: ctx})
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", lockstest.ErrSkip, err)
	}
	return err
}

// inOneProcess executes a case with all ranks in this process. The first error closes the
// fabric, and so ends the waits of the other ranks.
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

// described is a machine in whose virtual time cases are played.
var described = sim.Machines()[0]

// simulated plays a case under the schedules of some seeds, with every allowed delay, and, if
// timed, once in virtual time, which has no faults.
func simulated(way way, faults sim.Faults, timed bool) func(testing.TB, *topology.Tree, lockstest.Case, lockstest.Subject) error {
	return func(_ testing.TB, tree *topology.Tree, c lockstest.Case, s lockstest.Subject) error {
		system := played(tree, c.For(s))
		system.Shared, system.Faults = way == direct, faults
		n := schedules.N()
		if c.Rare {
			n *= 8
		}
		report := system.Seeds(0, n)
		if report.Failure == nil && timed {
			system.Faults = sim.Faults{}
			report.Failure = system.Predict(described, 0).Failure
		}
		return report.Err()
	}
}

// played makes a system of a case.
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

var crowdRounds = rings.Size("locks.crowd", 2, 10, 60, "TestCrowd: how often each case is executed")

// TestCrowd runs far more ranks than there are processors. Each rank sleeps and is woken
// many times. If a wake-up is lost, the rank stays asleep and the test fails.
func TestCrowd(t *testing.T) {
	t.Parallel()
	rounds := crowdRounds.N()
	if rings.Race {
		rounds = min(rounds, 6)
	}
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
				for round := range rounds {
					w := backendsOf("mem", "mem-operations")[round%2]
					if err := w.execute(t, tree, c, s); err != nil && !errors.Is(err, lockstest.ErrSkip) {
						t.Fatalf("%s %s with %d ranks, round %d: %v", w.name, name, tree.Ranks(), round, err)
					}
				}
			}
		})
	}
}

// TestRanges checks that each lock accepts the bounds that it declares and nothing beyond, and that
// every option that is a number has a range.
func TestRanges(t *testing.T) {
	tree, err := topology.Parse("node:2 core:4")
	if err != nil {
		t.Fatal(err)
	}
	noNumbers := []string{"StepBack", "Count", "OwnNode"}
	for _, s := range locks.All() {
		var fields []string
		for _, r := range s.Ranges(tree) {
			field, rest, _ := strings.Cut(r.Option, "[")
			field, _, _ = strings.Cut(field, ".")
			fields = append(fields, field)
			if got := r.Of(locks.Options{}); got != r.Default || r.Default < r.Least || r.Default > r.Most {
				t.Errorf("%s: %s of no options is %d, want the default %d, from %d to %d", s.Name, r.Option, got, r.Default, r.Least, r.Most)
			}
			for _, v := range []int{r.Least, r.Most} {
				o := r.With(locks.Options{}, v)
				if r.Of(o) != v && v != 0 {
					t.Errorf("%s: %s is %d, want %d", s.Name, r.Option, r.Of(o), v)
				}
				if err := s.Validate(tree, o); err != nil && !excludes(err, r.Option, v) {
					t.Errorf("%s: %s = %d: %v", s.Name, r.Option, v, err)
				}
			}
			if field == "TDC" || field == "Backoff" || field == "RemoteBackoff" {
				continue // more is allowed, and changes nothing
			}
			if o := r.With(locks.Options{}, r.Most+1); s.Validate(tree, o) == nil {
				t.Errorf("%s: %s = %d is accepted", s.Name, r.Option, r.Most+1)
			}
			if rest == "0]" {
				o := locks.Options{TL: []int{7, 8}}
				if got := r.With(o, 9); !slices.Equal(got.TL, []int{9, 8}) || !slices.Equal(o.TL, []int{7, 8}) {
					t.Errorf("%s: %v from %v, want 9 8 from 7 8", s.Name, got.TL, o.TL)
				}
			}
		}
		for _, name := range s.Options {
			if !slices.Contains(fields, name) && !slices.Contains(noNumbers, name) {
				t.Errorf("%s heeds %s, which has no range", s.Name, name)
			}
		}
	}
	for _, name := range noNumbers {
		if f, ok := reflect.TypeFor[locks.Options]().FieldByName(name); !ok || f.Type.Kind() == reflect.Int {
			t.Errorf("%s is a number", name)
		}
	}
}

// excludes reports whether a bound of one option does not go with the defaults of another.
func excludes(err error, option string, v int) bool {
	return strings.Contains(err.Error(), "at least the product of T_L,2") && (option == "TW" || v > 1) ||
		strings.Contains(err.Error(), "0 <= Min <= Max") && (option[len(option)-3:] == "Max") == (v == 1)
}
