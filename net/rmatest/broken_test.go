package rmatest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// enough is the number of schedules that a case may need to find a defect.
const enough = 30

// TestRejectsBroken breaks a fabric by every specimen. The cases that the specimen
// names must fail.
func TestRejectsBroken(t *testing.T) {
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

// TestLivesRejectBroken does the same for Lives. The time limit is short, because
// some specimens never wake.
func TestLivesRejectBroken(t *testing.T) {
	rejects := make(map[string]int)
	for _, s := range rmatest.BrokenLives() {
		for _, name := range s.RejectedBy {
			rejects[name]++
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				if err := lifeByName(t, name).Run(ctx, open(t, s.Break)); err == nil {
					t.Errorf("%s: %s does not notice", s.Defect, name)
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

func lifeByName(t *testing.T, name string) rmatest.Life {
	lives := rmatest.Lives()
	at := slices.IndexFunc(lives, func(life rmatest.Life) bool { return life.Name == name })
	if at < 0 {
		t.Fatalf("no life has the name %s", name)
	}
	return lives[at]
}

// open makes broken fabrics. After the test it closes the fabrics under them.
func open(t *testing.T, broken func(rma.Fabric) rma.Fabric) func(context.Context) rma.Fabric {
	return func(fabric context.Context) rma.Fabric {
		f, err := mem.New(mem.Options{Topology: topology.Flat(rmatest.LifeRanks), Words: rmatest.LifeWords, Context: fabric})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return broken(f)
	}
}
