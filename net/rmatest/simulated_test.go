package rmatest_test

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
