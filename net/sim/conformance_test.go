package sim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// conform makes a system of a case of the suite.
func conform(c rmatest.Case, faults sim.Faults) sim.System {
	return sim.System{
		Topology: topology.Flat(c.Ranks),
		Words:    c.Words,
		Shared:   true,
		Faults:   faults,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			body, err := c.Setup(f)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				return rmatest.Perform(ctx, f, body, w.Rank())
			}}, err
		},
	}
}

// The simulator keeps the contract of windows: under many schedules, with every
// allowed delay, and in virtual time.
func TestConformance(t *testing.T) {
	rings.Computes(t)
	for _, c := range rmatest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			report := conform(c, sim.Faults{Delays: 1, Pauses: 1}).Seeds(0, 20)
			if report.Failure == nil {
				report.Failure = conform(c, sim.Faults{}).Predict(toy(), 1).Failure
			}
			switch err := report.Err(); {
			case errors.Is(err, rmatest.ErrSkip):
				t.Skip(err)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// After Close every window has failed with ErrClosed, and a waiting rank returns with
// that error.
func TestClose(t *testing.T) {
	s := sim.System{
		Topology: topology.Flat(2),
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			word, err := f.Alloc(1)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				if w.Rank() == 0 {
					f.Close()
				} else if _, err := w.Await(ctx, 1, word, rma.Is(1)); !errors.Is(err, rma.ErrClosed) {
					t.Errorf("Await returns %v, want ErrClosed", err)
				}
				if w.Put(1, word, 7); !errors.Is(w.Err(), rma.ErrClosed) {
					t.Errorf("the window's failure is %v, want ErrClosed", w.Err())
				}
				if got := w.Get(1, word); got != 0 {
					t.Errorf("a closed window reads %d, want 0", got)
				}
				return nil
			}}, err
		},
	}
	if report := s.Exhaust(sim.Limit{}); report.Failure != nil || !report.Complete {
		t.Fatalf("%+v", report)
	}
	if p := s.Predict(toy(), 1); p.Failure != nil {
		t.Fatal(p.Failure)
	}
}
