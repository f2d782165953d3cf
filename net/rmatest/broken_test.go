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

// enough is how many schedules a case may need to find a defect.
const enough = 30

// TestRejectsBroken breaks a fabric in every way that Broken knows, and demands
// that the cases named there notice.
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

// TestEveryCaseRejects looks for cases that no defect makes fail: such a case may
// test nothing.
func TestEveryCaseRejects(t *testing.T) {
	rejects := make(map[string]int)
	for _, s := range rmatest.Broken() {
		if len(s.RejectedBy) == 0 {
			t.Errorf("no case is named that rejects %s", s.Name)
		}
		for _, name := range s.RejectedBy {
			rejects[name]++
		}
	}
	for _, c := range rmatest.Cases() {
		if rejects[c.Name] == 0 {
			t.Errorf("no specimen is named that %s rejects", c.Name)
		}
	}
}

// TestLivesRejectBroken does the same for Lives, with little patience for those
// whose defect is that they never wake.
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
			t.Errorf("no specimen is named that %s rejects", life.Name)
		}
	}
}

func lifeByName(t *testing.T, name string) rmatest.Life {
	lives := rmatest.Lives()
	at := slices.IndexFunc(lives, func(life rmatest.Life) bool { return life.Name == name })
	if at < 0 {
		t.Fatalf("no life is called %s", name)
	}
	return lives[at]
}

// open makes fabrics that are broken, and closes what is under them in the end.
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
