package rmatest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// enough is the number of schedules that a case may need to find a defect.
const enough = 30

// TestRejectsBroken breaks a fabric by every specimen. The cases that the specimen
// names must fail.
func TestRejectsBroken(t *testing.T) {
	rings.Computes(t)
	for _, s := range rmatest.Broken() {
		t.Run(s.Name, func(t *testing.T) {
			for _, name := range s.RejectedBy {
				c, err := rmatest.CaseByName(name)
				if err != nil {
					t.Fatal(err)
				}
				err = simulate(c, enough, s.Break)
				if err == nil || errors.Is(err, rmatest.ErrSkip) {
					t.Errorf("%s: %s does not notice: %v", s.Defect, name, err)
				}
			}
		})
	}
}

// TestEveryCaseRejects finds cases that reject no specimen. Such a case may test
// nothing.
func TestEveryCaseRejects(t *testing.T) {
	rejects := make(map[string]int)
	for _, s := range rmatest.Broken() {
		if len(s.RejectedBy) == 0 {
			t.Errorf("%s names no case that rejects it", s.Name)
		}
		for _, name := range s.RejectedBy {
			rejects[name]++
		}
	}
	for _, c := range rmatest.Cases() {
		if rejects[c.Name] == 0 {
			t.Errorf("no specimen names %s", c.Name)
		}
	}
}

// hanging are the specimens with which a rank waits for ever.
var hanging = []string{"close-does-nothing", "await-deaf"}

// TestLivesRejectBroken does the same for Lives. A specimen that never wakes is one with
// which everybody is blocked.
func TestLivesRejectBroken(t *testing.T) {
	rejects := make(map[string]int)
	for _, s := range rmatest.BrokenLives() {
		for _, name := range s.RejectedBy {
			rejects[name]++
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				err, hangs := live(t, lifeByName(t, name), s.Break)
				if err == nil && !hangs {
					t.Errorf("%s: %s does not notice", s.Defect, name)
				}
				if want := slices.Contains(hanging, s.Name); hangs != want {
					t.Errorf("everybody is blocked: %t, want %t; then: %v", hangs, want, err)
				}
			})
		}
	}
	for _, life := range rmatest.Lives() {
		if rejects[life.Name] == 0 {
			t.Errorf("no specimen names %s", life.Name)
		}
	}
}

// TestLivesAcceptRight runs Lives on a fabric without a defect, in the same way.
func TestLivesAcceptRight(t *testing.T) {
	for _, life := range rmatest.Lives() {
		t.Run(life.Name, func(t *testing.T) {
			if err, hangs := live(t, life, func(f rma.Fabric) rma.Fabric { return f }); err != nil || hangs {
				t.Errorf("%v; everybody is blocked: %t", err, hangs)
			}
		})
	}
}

// live runs a life in a bubble of goroutines. Time passes there only when all of them are
// blocked, however slow the machine is. So the life hangs if an hour has passed: then
// live closes the fabrics, which ends all waits.
func live(t *testing.T, life rmatest.Life, broken func(rma.Fabric) rma.Fabric) (err error, hangs bool) {
	synctest.Test(t, func(t *testing.T) {
		var fabrics []rma.Fabric
		open := func(fabric context.Context) rma.Fabric {
			f, err := mem.New(mem.Options{Topology: topology.Flat(rmatest.LifeRanks), Words: rmatest.LifeWords, Context: fabric})
			if err != nil {
				t.Fatal(err)
			}
			fabrics = append(fabrics, f)
			return broken(f)
		}
		ended := make(chan error, 1)
		go func() { ended <- life.Run(t.Context(), open) }()
		select {
		case err = <-ended:
		case <-time.After(time.Hour):
			hangs = true
			synctest.Wait() // the race detector learns from it that they are blocked
		}
		for _, f := range fabrics {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if hangs {
			err = <-ended
		}
	})
	return err, hangs
}

func lifeByName(t *testing.T, name string) rmatest.Life {
	lives := rmatest.Lives()
	at := slices.IndexFunc(lives, func(life rmatest.Life) bool { return life.Name == name })
	if at < 0 {
		t.Fatalf("no life has the name %s", name)
	}
	return lives[at]
}

// simulate plays a case in the simulator, which delays everything that the contract
// allows. It uses the schedules of seeds 1 to n and stops at the first failure. The
// ranks see the fabric through wrap.
func simulate(c rmatest.Case, n int, wrap func(rma.Fabric) rma.Fabric) error {
	system := sim.System{
		Topology: topology.Flat(c.Ranks),
		Words:    c.Words,
		Shared:   true,
		Setup: func(s *sim.Fabric) (sim.Program, error) {
			f := wrap(s)
			body, err := c.Setup(f)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				return rmatest.Perform(ctx, f, body, w.Rank())
			}}, err
		},
	}
	if failure := system.Seeds(1, n).Failure; failure != nil {
		return failure
	}
	return nil
}

func unchanged(f rma.Fabric) rma.Fabric { return f }

// TestSimulated plays the suite in the simulator. It proves that the cases obey the
// contract and flush everything that they rely on.
func TestSimulated(t *testing.T) {
	rings.Computes(t)
	for _, c := range rmatest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			err := simulate(c, 10, unchanged)
			switch {
			case errors.Is(err, rmatest.ErrSkip):
				t.Skip(err)
			case err != nil:
				t.Error(err)
			}
		})
	}
}
