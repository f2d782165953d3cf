package sim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// TestSurvive crashes a rank with a Put in flight, at every point. Another rank waits for it in its epoch, and goes
// on after the loss. The Put has arrived before that, or never does.
func TestSurvive(t *testing.T) {
	for _, shared := range []bool{false, true} {
		seen := map[string]bool{}
		s := sim.System{
			Topology: topology.Flat(2), Survive: true, Shared: shared, Faults: sim.Faults{Crashes: 1},
			Setup: func(f *sim.Fabric) (sim.Program, error) {
				word, err := f.Alloc(2)
				return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
					if w.Rank() == 1 {
						w.Put(0, word, 7)
						w.FetchOp(0, word+1, rma.Sum, 1)
						return nil
					}
					outcome, err := survive(ctx, w.(rma.Survivor), word)
					seen[outcome] = true
					return err
				}}, err
			},
		}
		if r := s.Exhaust(sim.Limit{}); r.Failure != nil || !r.Complete {
			t.Fatalf("shared: %t: %+v", shared, r.Err())
		}
		for _, outcome := range []string{"no loss", "arrived", "never arrives"} {
			if !seen[outcome] {
				t.Errorf("shared: %t: the outcomes are %v, want %q, too", shared, seen, outcome)
			}
		}
	}
}

// survive waits for the word of the other rank, or for its loss.
func survive(ctx context.Context, w rma.Survivor, word rma.Disp) (outcome string, err error) {
	e := w.Epoch()
	if _, err := w.AwaitIn(ctx, e, 0, word+1, rma.Is(1)); err == nil {
		return "no loss", nil
	} else if !errors.Is(err, rma.ErrPeerLost) || w.Err() != nil {
		return "", fmt.Errorf("the wait ended with %w, and the window has %v", err, w.Err())
	}
	after := w.Epoch()
	if after.Number() != 1 || !after.Lost(1) || after.Err() != nil {
		return "", fmt.Errorf("the epoch after the loss is %d, lost: %t, with %v", after.Number(), after.Lost(1), after.Err())
	}
	first := w.Get(0, word)
	w.FetchOp(0, word+1, rma.Sum, 1)
	if last := w.Get(0, word); last != first {
		return "", fmt.Errorf("an operation of a lost rank arrived: %d, then %d", first, last)
	}
	if first == 7 {
		return "arrived", nil
	}
	return "never arrives", nil
}

// TestPredictSurvives crashes a rank in virtual time.
func TestPredictSurvives(t *testing.T) {
	s := sim.System{
		Topology: topology.Flat(2), Survive: true, Faults: sim.Faults{Crashes: 1},
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			word, err := f.Alloc(2)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				other := 1 - w.Rank()
				_, err := w.(rma.Survivor).AwaitIn(ctx, w.(rma.Survivor).Epoch(), other, word, rma.Is(1))
				if e := w.(rma.Survivor).Epoch(); !errors.Is(err, rma.ErrPeerLost) || w.Err() != nil || !e.Lost(other) {
					return fmt.Errorf("the wait for rank %d ended with %w", other, err)
				}
				return nil
			}}, err
		},
	}
	if p := s.Predict(toy(), 1); p.Failure != nil {
		t.Fatal(p.Failure)
	}
}
