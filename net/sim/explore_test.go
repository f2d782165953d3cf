package sim_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

var seeds = rings.Seeds("sim.seeds", 2000, 320_000, "TestSeeds: seeds for each right specimen")

func contest(t *testing.T, name string, ranks, acquisitions int) sim.System {
	t.Helper()
	s, ok := specimen.ByName(name)
	if !ok {
		t.Fatalf("no specimen %q", name)
	}
	return specimen.Contest{Topology: topology.Flat(ranks), Acquisitions: acquisitions, Writers: 1}.System(s)
}

// 100 seeds catch every wrong specimen.
func TestSeedsCatchWrongSpecimens(t *testing.T) {
	rings.Computes(t)
	for _, s := range specimen.All() {
		if !s.Wrong {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			report := contest(t, s.Name, max(2, s.Ranks), 3).Seeds(0, 100)
			if report.Failure == nil {
				t.Fatalf("100 seeds do not catch it")
			}
			t.Logf("seed %d: %v", report.Failure.Seed, report.Failure.Err)
		})
	}
}

// The exhaustive search catches every wrong specimen.
func TestExhaustCatchesWrongSpecimens(t *testing.T) {
	rings.Computes(t)
	for _, s := range specimen.All() {
		if !s.Wrong {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			report := contest(t, s.Name, max(2, s.Ranks), 3).Exhaust(sim.Limit{States: 1 << 17})
			if report.Failure == nil {
				t.Fatalf("%d states do not catch it, complete: %v", report.States, report.Complete)
			}
			t.Logf("after %d states: %v", report.States, report.Failure.Err)
		})
	}
}

// Every right specimen passes the complete search of small systems.
func TestExhaustPassesRightSpecimens(t *testing.T) {
	rings.Computes(t)
	for _, s := range specimen.All() {
		if s.Wrong {
			continue
		}
		for _, size := range [][2]int{{2, 2}, {3, 1}} {
			t.Run(fmt.Sprintf("%s/%dx%d", s.Name, size[0], size[1]), func(t *testing.T) {
				report := contest(t, s.Name, size[0], size[1]).Exhaust(sim.Limit{})
				if report.Failure != nil {
					t.Fatal(report.Failure)
				}
				if !report.Complete || report.States < 10 {
					t.Fatalf("the search is not complete: %+v", report)
				}
				t.Logf("%d states, %d runs", report.States, report.Runs)
			})
		}
	}
}

// Every right specimen passes many seeds.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	for _, s := range specimen.All() {
		if s.Wrong {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if report := contest(t, s.Name, 4, 3).Seeds(seeds.Span()); report.Failure != nil {
				t.Fatal(report.Failure)
			}
		})
	}
}

//go:embed testdata/seeds.txt
var keptSeeds string

// Each kept seed finds its failure again.
func TestKeptSeeds(t *testing.T) {
	kept := 0
	for line := range strings.Lines(keptSeeds) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		run, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
		var lock, tree string
		var acquisitions, writers int
		var seed uint64
		if _, err := fmt.Sscan(run, &lock, &tree, &acquisitions, &writers, &seed); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		parsed, err := topology.Parse(tree)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := specimen.ByName(lock)
		if !ok {
			t.Fatalf("no specimen %q", lock)
		}
		system := specimen.Contest{Topology: parsed, Acquisitions: acquisitions, Writers: writers}.System(s)
		if f := system.Seed(seed).Failure; f == nil || !strings.Contains(f.Err.Error(), want) {
			t.Errorf("%s: got %v, want %q", run, f, want)
		}
		kept++
	}
	if kept < 10 {
		t.Errorf("only %d seeds are kept", kept)
	}
}

// A right lock keeps its promises when any rank crashes, is cancelled, pauses or is
// delayed: the other ranks end with the lock, or with an error.
func TestFaults(t *testing.T) {
	rings.Computes(t)
	for _, name := range []string{"mcs-flushed", "ticket", "rw"} {
		for _, faults := range []sim.Faults{{Crashes: 1}, {Crashes: 2}, {Pauses: 2}, {Delays: 3}, {Cuts: 2}, {Splits: 1}, {Cancels: 1},
			{Crashes: 1, Cancels: 1, Pauses: 1, Delays: 1}} {
			t.Run(fmt.Sprintf("%s/%+v", name, faults), func(t *testing.T) {
				lock, _ := specimen.ByName(name)
				s := specimen.Contest{Topology: topology.Flat(3), Acquisitions: 3, Writers: 1, Faults: faults}.System(lock)
				if report := s.Seeds(0, 500); report.Failure != nil {
					t.Fatal(report.Failure)
				}
			})
		}
	}
}

// The exhaustive search crashes a rank at every point.
func TestExhaustCrashes(t *testing.T) {
	s := contest(t, "mcs-flushed", 2, 1)
	without := s.Exhaust(sim.Limit{})
	s.Faults = sim.Faults{Crashes: 1}
	with := s.Exhaust(sim.Limit{})
	if with.Failure != nil {
		t.Fatal(with.Failure)
	}
	if !with.Complete || with.States < 2*without.States {
		t.Fatalf("crashes add too few states: %d without, %d with", without.States, with.States)
	}
}

// While a rank is cut off, nothing passes between its memory and that of others, in either direction. Its own memory stays.
func TestCut(t *testing.T) {
	cuts := 0
	for seed := range uint64(400) {
		faults := []sim.Faults{{Cuts: 1}, {Splits: 1}}[seed%2]
		s := sim.System{Topology: topology.Flat(3), Faults: faults, Setup: func(f *sim.Fabric) (sim.Program, error) {
			word, err := f.Alloc(1)
			ended := 0
			return sim.Program{Rank: func(_ context.Context, w rma.Window) error {
				for i := range 4 {
					w.Put((w.Rank()+1)%3, word, uint64(i))
					w.FlushAll()
					w.Get((w.Rank()+2)%3, word)
				}
				if ended++; ended == 3 {
					return errors.New("shown") // the simulator shows the steps of runs that fail
				}
				return w.Err()
			}}, err
		}}
		f := s.Seed(seed).Failure
		if f == nil || !strings.Contains(f.Err.Error(), "shown") {
			t.Fatalf("seed %d: %v", seed, f)
		}
		off := rma.Rank(-1)
		for _, step := range f.Trace {
			var target rma.Rank
			switch n, _ := fmt.Sscanf(step.Where, "rank %d word", &target); {
			case step.What == "is cut off":
				cuts++
				off = step.Rank
			case step.What == "is back":
				off = -1
			case n == 1 && off >= 0 && (step.What == "  arrives" || step.What == "Get") && target != step.Rank && (target == off || step.Rank == off):
				t.Fatalf("seed %d: rank %d is cut off, and this passes: %+v\n%s", seed, off, step, f.Trace)
			}
		}
	}
	if cuts < 100 {
		t.Errorf("only %d runs have a cut", cuts)
	}
}

// A split is for ever. All ranks learn of it, on both sides, and none reads what the other side has written since.
func TestExhaustSplits(t *testing.T) {
	s := contest(t, "mcs-flushed", 2, 1)
	without := s.Exhaust(sim.Limit{})
	s.Faults = sim.Faults{Splits: 1}
	with := s.Exhaust(sim.Limit{})
	if with.Failure != nil || !with.Complete || with.States < 2*without.States {
		t.Fatalf("%v, complete %t, %d states without and %d with a split", with.Failure, with.Complete, without.States, with.States)
	}
	// Rank 1 takes a lost rank 0 for a dead one, and goes in. The search finds that rank 0 may live, on the other side.
	in := false
	s = sim.System{Topology: topology.Flat(2), Faults: sim.Faults{Splits: 1}, Setup: func(f *sim.Fabric) (sim.Program, error) {
		word, err := f.Alloc(1)
		in = false
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			if w.Rank() == 0 {
				in = true
				w.Get(0, word)
				in = false
				w.Put(1, word, 1)
				w.FlushAll()
				return nil
			}
			if w.Await(ctx, 1, word, rma.Is(1)); in {
				return errors.New("both are inside")
			}
			return nil
		}}, err
	}}
	f := s.Exhaust(sim.Limit{}).Failure
	if f == nil || !strings.Contains(f.Err.Error(), "both are inside") || !slices.ContainsFunc(f.Trace, func(s sim.Step) bool { return s.What == "is cut off" }) {
		t.Errorf("%v", f)
	}
}

// The simulator catches a lock that polls the word of a crashed rank for ever and
// does not look at the error.
func TestLoopAfterFailureIsCaught(t *testing.T) {
	s := sim.System{
		Topology: topology.Flat(2),
		Faults:   sim.Faults{Crashes: 1},
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			flag, err := f.Alloc(1)
			return sim.Program{Rank: func(_ context.Context, w rma.Window) error {
				if w.Rank() == 0 {
					w.Put(1, flag, 1)
					w.Flush(1)
					return nil
				}
				for w.Get(1, flag) == 0 {
					w.Pause(1)
				}
				return nil
			}}, err
		},
	}
	if report := s.Exhaust(sim.Limit{}); report.Failure == nil || !strings.Contains(report.Failure.Error(), "after its window failed") {
		t.Fatalf("got %v, want the panic of a loop that ignores the failure of its window", report.Failure)
	}
}

// A rank that waits for an unflushed operation may wait for ever.
func TestMissingFlushStrands(t *testing.T) {
	for flushed, want := range map[bool]error{true: nil, false: sim.ErrDeadlock} {
		s := sim.System{
			Topology: topology.Flat(2),
			Setup: func(f *sim.Fabric) (sim.Program, error) {
				flag, err := f.Alloc(1)
				return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
					if w.Rank() == 0 {
						w.Put(1, flag, 1)
						if flushed {
							w.Flush(1)
						}
						return nil
					}
					_, err := w.Await(ctx, 1, flag, rma.Is(1))
					return err
				}}, err
			},
		}
		var got error
		if f := s.Exhaust(sim.Limit{}).Failure; f != nil {
			got = f
		}
		if !errors.Is(got, want) {
			t.Errorf("flushed %v: got %v, want %v", flushed, got, want)
		}
	}
}

// A failure names the command that repeats it. The repeated run has the same failure
// and the same steps.
func TestFailureRepeats(t *testing.T) {
	s := contest(t, "mcs-late-flag", 2, 2)
	s.Command = "lock"
	first := s.Seeds(0, 100).Failure
	again := s.Seed(first.Seed).Failure
	if again == nil || again.Error() != first.Error() {
		t.Fatalf("seed %d does not repeat:\n%v\n%v", first.Seed, first, again)
	}
	if want := fmt.Sprintf("lock -seed %d", first.Seed); first.Command != want {
		t.Errorf("command %q, want %q", first.Command, want)
	}

	found := s.Exhaust(sim.Limit{}).Failure
	schedule, ok := strings.CutPrefix(found.Command, "lock -schedule ")
	if !ok {
		t.Fatalf("command %q has no schedule", found.Command)
	}
	report, err := s.Replay(schedule)
	if err != nil || report.Failure == nil || report.Failure.Error() != found.Error() {
		t.Fatalf("schedule does not repeat: %v\n%v\n%v", err, found, report.Failure)
	}
	if !errors.Is(found, sim.ErrDeadlock) {
		t.Errorf("got %v, want the deadlock of the late flag", found.Err)
	}
}

// The trace of a failure names ranks, operations, targets, words and values.
func TestTrace(t *testing.T) {
	f := contest(t, "mcs-no-flush", 2, 1).Seeds(0, 100).Failure
	text := f.Error()
	for _, want := range []string{"stale data", "again: -seed ", "rank 0 tail", "FetchOp", "replace 1 -> 0", "arrives", "rank 1 data"} {
		if !strings.Contains(text, want) {
			t.Errorf("the trace lacks %q:\n%s", want, text)
		}
	}
}

func TestBadSystems(t *testing.T) {
	setup := func(f *sim.Fabric) (sim.Program, error) { return sim.Program{}, nil }
	for name, s := range map[string]sim.System{
		"no topology":   {Setup: setup},
		"no setup":      {Topology: topology.Flat(1)},
		"no rank":       {Topology: topology.Flat(1), Setup: setup},
		"bad words":     {Topology: topology.Flat(1), Setup: setup, Words: -1},
		"bad steps":     {Topology: topology.Flat(1), Setup: setup, MaxSteps: -1},
		"bad faults":    {Topology: topology.Flat(1), Setup: setup, Faults: sim.Faults{Pauses: -1}},
		"setup's error": {Topology: topology.Flat(1), Setup: func(f *sim.Fabric) (sim.Program, error) { return sim.Program{}, errors.New("no") }},
	} {
		if s.Seeds(0, 1).Failure == nil || s.Exhaust(sim.Limit{}).Failure == nil || s.Predict(sim.Machines()[0], 0).Failure == nil {
			t.Errorf("%s: the system is accepted", name)
		}
	}
	if _, err := contest(t, "mcs-flushed", 2, 1).Replay("01[7"); err == nil {
		t.Error("a schedule that does not parse is accepted")
	}
}

// An exploration tells what it has explored so far, and ends where its caller wants.
func TestProgressEndsExploration(t *testing.T) {
	for name, explore := range map[string]func(sim.System) sim.Report{
		"every state": func(s sim.System) sim.Report { return s.Exhaust(sim.Limit{}) },
		"seeds":       func(s sim.System) sim.Report { return s.Seeds(0, 100) },
	} {
		s := contest(t, "mcs-flushed", 2, 2)
		told := 0
		s.Progress = func(r sim.Report) bool {
			if told++; r.Runs != told || r.Steps == 0 {
				t.Errorf("%s: after %d runs it tells %+v", name, told, r)
			}
			return told < 7
		}
		if r := explore(s); r.Runs != 7 || r.Complete || r.Failure != nil {
			t.Errorf("%s: %+v, want the end after 7 runs, and not complete", name, r)
		}
	}
}
