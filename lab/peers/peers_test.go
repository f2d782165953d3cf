package peers

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/orwl/go-orwl/internal/native"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/net/topology"
)

func TestMain(m *testing.M) {
	if arena.Child() {
		return
	}
	os.Exit(m.Run())
}

// planOn is a short plan of all benchmarks that peers play.
func planOn(t *testing.T, machine string) lab.Plan {
	t.Helper()
	tree, err := topology.Parse(machine)
	if err != nil {
		t.Fatal(err)
	}
	benchmarks, err := lab.MatchBenchmarks(strings.Join(played, ","))
	if err != nil {
		t.Fatal(err)
	}
	return lab.Plan{
		Benchmarks: benchmarks, Locks: lab.Locks(), Machines: []*topology.Tree{tree}, Writers: []float64{.25},
		Length: lab.Length{Turns: 20, Repeats: 1, Seed: 1},
	}
}

// TestFamilies plays each lock of each family with one of the benchmarks. Users play the families
// that every machine with a C compiler has.
func TestFamilies(t *testing.T) {
	families, err := Match(rings.Of("go,pthread", "all", "all"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		t.Run(f.Name, func(t *testing.T) {
			p, err := f.Open(t.Context())
			if errors.Is(err, native.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			cases, skipped := f.Cases(planOn(t, "node:2 core:1"))
			if want := len(played) * len(f.locks); len(cases) != want || len(skipped) > 0 {
				t.Fatalf("%d cases and %q skipped, want %d", len(cases), skipped, want)
			}
			for k := range f.locks { // each plays another benchmark, from ECSB on
				judge(t, p, cases[(k+1)%len(played)*len(f.locks)+k])
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func judge(t *testing.T, p Peer, c lab.Case) {
	t.Helper()
	told := 0
	samples, err := p.Play(t.Context(), c, func(lab.Sample) { told++ })
	if err != nil {
		t.Fatalf("%s of %s: %v", c.Benchmark, c.Lock, err)
	}
	if len(samples) != 2 || told != 2 || samples[0].Rank+samples[1].Rank != 1 || samples[0].Turns != 20 || samples[0].Time <= 0 {
		t.Fatalf("%s of %s: %+v, told %d times, want one sample for each rank", c.Benchmark, c.Lock, samples, told)
	}
	r, err := lab.Summarize(c, samples)
	if err != nil {
		t.Fatal(err)
	}
	b, err := lab.BenchmarkByName(c.Benchmark)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := r.Figure(b.Figure); !ok || f.Median <= 0 {
		t.Errorf("%s of %s: the figures are %+v, want %s", c.Benchmark, c.Lock, r.Figures, b.Figure)
	}
}

// TestManyProcesses plays the queues on MPI with more processes than processors, so that each
// branch of a hand-over is taken.
func TestManyProcesses(t *testing.T) {
	rings.Needs(t, rings.Night)
	families, err := Match("openmpi")
	if err != nil {
		t.Fatal(err)
	}
	p, err := families[0].Open(t.Context())
	if errors.Is(err, native.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	plan := planOn(t, "node:2 core:3")
	plan.Benchmarks = plan.Benchmarks[3:4] // WCSB: sections take long enough to meet
	plan.Options.TL = []int{1, 2}
	cases, _ := families[0].Cases(plan)
	for _, c := range cases[1:] { // not MPI's own
		c.Turns = 300
		if _, err := p.Play(t.Context(), c, nil); err != nil {
			t.Errorf("%s: %v", c.Lock, err)
		}
	}
}

// broken lets everybody in.
const broken = `
#include "threads.h"
static void nothing(int me) {}
static void nothing_to_open(void) {}
static const struct lock locks[] = {{"broken", nothing_to_open, nothing, nothing, nothing, nothing}};
int main(int argc, char **argv) { return run(locks, 1, argc, argv); }
`

// TestBrokenPeer finds that a lock lets a second worker in beside a writer.
func TestBrokenPeer(t *testing.T) {
	files := fstest.MapFS{"c/broken.c": {Data: []byte(broken)}}
	for _, name := range []string{"c/threads.h", "c/bench.h"} {
		text, err := sources.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	families := []Family{{Name: "broken"}, {Name: "broken-shm"}}
	for _, f := range families[:rings.Of(1, 2, 2)] {
		program, err := native.C.Build(t.Context(), native.Source{Name: f.Name, Files: files, Main: "c/broken.c", Flags: []string{"-pthread"}})
		if errors.Is(err, native.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		p := &compiled{f, program}
		c := lab.Case{Benchmark: "WCSB", Lock: "broken", Machine: "core:4", Length: lab.Length{Turns: 20_000, Repeats: 1}}
		if _, err := p.Play(t.Context(), c, nil); err != nil {
			t.Errorf("%s, readers only: %v", f.Name, err)
		}
		c.Writers = .5
		var seen *lab.ExclusionError
		if _, err := p.Play(t.Context(), c, nil); !errors.As(err, &seen) {
			t.Errorf("%s, with writers: %v, want an ExclusionError", f.Name, err)
		}
		c.Unchecked = true
		if _, err := p.Play(t.Context(), c, nil); err != nil {
			t.Errorf("%s, unchecked: %v", f.Name, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCases leaves out what peers do not play, and locks that have the name of one of ours which
// the plan lacks.
func TestCases(t *testing.T) {
	plan := planOn(t, "core:2")
	benchmarks, err := lab.MatchBenchmarks("ecsb,upb")
	if err != nil {
		t.Fatal(err)
	}
	plan.Benchmarks = benchmarks
	if plan.Locks, err = lab.MatchLocks("rma-mcs,tas"); err != nil {
		t.Fatal(err)
	}
	plan.Writers = []float64{0, 1}
	families, err := Match("MPI")
	if err != nil || len(families) != 2 {
		t.Fatalf("mpi is %v, %v, want both", families, err)
	}
	cases, skipped := families[0].Cases(plan)
	if len(skipped) != 1 || !strings.Contains(skipped[0], "UPB") {
		t.Errorf("skipped %q, want UPB", skipped)
	}
	count := map[string]int{}
	for _, c := range cases {
		count[c.Lock]++
	}
	if want := map[string]int{"MPI_Win_lock": 2, "RMA-MCS": 1}; !maps.Equal(count, want) {
		t.Errorf("the cases are %v, want %v", count, want)
	}
}

func TestMatch(t *testing.T) {
	for list, want := range map[string][]string{
		"pthread,ck": {"pthread", "ck"}, "mpi": {"openmpi", "mpich"}, "": nil,
		"all": {"go", "pthread", "pthread-shm", "ck", "ck-shm", "openmpi", "mpich"},
	} {
		families, err := Match(list)
		var names []string
		for _, f := range families {
			names = append(names, f.Name)
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%q is %q, %v, want %q", list, names, err, want)
		}
	}
	if _, err := Match("go,lam"); err == nil || !strings.Contains(err.Error(), `"lam"`) {
		t.Errorf("a name that is wrong: %v", err)
	}
}
