package experiments

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
)

func machine(t *testing.T, name string) model.Model {
	t.Helper()
	m, err := sim.MachineByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Large blocks hide the network, as the paper says: an iteration takes as long as the sweeps of a core, on one node and on
// many. Small ones do not, and a slower network hides less.
func TestCluster(t *testing.T) {
	rings.Computes(t)
	for _, c := range []struct {
		machine     string
		nodes, side int
		sweep       time.Duration
		low, high   float64 // of the time of four sweeps
	}{
		{"ethernet", 1, 3000, 20 * time.Millisecond, 1, 1.001},
		{"ethernet", 16, 3000, 20 * time.Millisecond, 1, 1.05},
		{"coolmuc-2", 16, 3000, 20 * time.Millisecond, 1, 1.01},
		{"coolmuc-2", 8, 16, 500 * time.Nanosecond, 3, 100},
		{"ethernet", 8, 16, 500 * time.Nanosecond, 20, 1000},
	} {
		took, err := cluster{machine: machine(t, c.machine), nodes: c.nodes, side: c.side, sweep: c.sweep}.iteration()
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(took) / float64(nodeSide*c.sweep); got < c.low || got > c.high {
			t.Errorf("%+v: an iteration takes %v, %.3f of four sweeps", c, took, got)
		}
	}
}

// The same prediction comes twice.
func TestClusterIsDetermined(t *testing.T) {
	c := cluster{machine: machine(t, "ethernet"), nodes: 4, side: 100, sweep: 20 * time.Microsecond}
	first, err := c.iteration()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.iteration(); err != nil || again != first {
		t.Errorf("%v, %v, and %v before", again, err, first)
	}
}
