package lockstest_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// enough is how many schedules are enough for a case to find a defect.
const enough = 60

// simulate plays a case with a lock under the schedules of some seeds. It stops at the
// first failure.
func simulate(t *testing.T, c lockstest.Case, s lockstest.Subject) error {
	text := c.Topology
	if text == "" {
		text = "node:2 core:3"
	}
	tree, err := topology.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	system := sim.System{
		Topology: tree,
		Words:    lockstest.Words,
		MaxSteps: 1 << 16,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			body, err := c.For(s).Setup(f)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				return rmatest.Perform(ctx, f, body, w.Rank())
			}}, err
		},
	}
	return system.Seeds(1, enough).Err()
}

// TestRejectsBroken breaks locks in every way that Broken lists. The cases named there
// must reject them, and accept the locks without the defect.
func TestRejectsBroken(t *testing.T) {
	rings.Computes(t)
	for _, s := range lockstest.Broken() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			spec, ok := locks.ByName(s.Of)
			if !ok {
				t.Fatalf("no lock %q", s.Of)
			}
			for _, name := range s.RejectedBy {
				c, err := lockstest.CaseByName(name)
				if err != nil {
					t.Fatal(err)
				}
				whole := lockstest.Of(spec)
				if !c.Concerns(whole) {
					t.Errorf("%s does not concern %s", name, s.Of)
				}
				if err := simulate(t, c, whole); err != nil {
					t.Errorf("%s rejects %s without the defect: %v", name, s.Of, err)
				}
				err = simulate(t, c, s.Break(whole))
				if err == nil || errors.Is(err, lockstest.ErrSkip) {
					t.Errorf("%s: %s does not reject it: %v", s.Defect, name, err)
				}
			}
		})
	}
}

// TestEveryCaseRejects looks for cases that reject no specimen. Such a case may test
// nothing.
func TestEveryCaseRejects(t *testing.T) {
	rejects := make(map[string]int)
	for _, s := range lockstest.Broken() {
		if len(s.RejectedBy) == 0 {
			t.Errorf("%s names no case that rejects it", s.Name)
		}
		for _, name := range s.RejectedBy {
			rejects[name]++
		}
	}
	for _, c := range lockstest.Cases() {
		if rejects[c.Name] == 0 {
			t.Errorf("no specimen names %s as a case that rejects it", c.Name)
		}
	}
}

// TestContestRejectsBroken plays contests with the defects that a contest can see.
func TestContestRejectsBroken(t *testing.T) {
	rings.Computes(t)
	for name, want := range map[string]string{
		"no-lock":             "order broken",
		"readers-unlocked":    "exclusion broken",
		"release-unflushed":   "stale data",
		"barging":             "order broken",
		"never-alone":         "is not alone",
		"unflushed-hand-over": "no rank can go on",
		"counts-twice":        "and counted",
		"abandons-silently":   "no rank can go on",
		"loses-late-grant":    "gave up, and counts",
		"wrong-error":         "returned no",
		"gives-up-late":       "gives up",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := lockstest.Broken()
			s := broken[slices.IndexFunc(broken, func(s lockstest.Specimen) bool { return s.Name == name })]
			spec, _ := locks.ByName(s.Of)
			c := lockstest.Contest{
				Subject: s.Break(lockstest.Of(spec)), Acquisitions: 4,
				Reads: func(p rma.Rank) bool { return p == 1 && spec.Kind == locks.ReaderWriter },
			}
			if strings.Contains(s.Defect, "context") || strings.Contains(s.Defect, "gives up") {
				c.Quits = 10
			}
			system := sim.System{Topology: topology.Flat(3), MaxSteps: 1 << 16, Setup: func(f *sim.Fabric) (sim.Program, error) {
				c.Quit = rand.New(rand.NewPCG(1, 2))
				m, err := c.Start(f)
				if err != nil {
					return sim.Program{}, err
				}
				return sim.Program{Rank: m.Rank, Check: m.Check, State: m.State}, nil
			}}
			found := map[string]bool{}
			for seed := range uint64(200) {
				if f := system.Seed(seed).Failure; f != nil {
					what, _, _ := strings.Cut(f.Err.Error(), "\n")
					if found[what] = true; strings.Contains(what, want) {
						return
					}
				}
			}
			t.Errorf("%s: want %q, found %v", s.Defect, want, slices.Collect(maps.Keys(found)))
		})
	}
}
