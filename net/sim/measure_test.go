package sim_test

import (
	"context"
	"math"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// The meter, run on a simulated machine, measures the model that the machine plays:
// both give every figure the same meaning.
func TestMeterFindsTheMachine(t *testing.T) {
	tree, err := topology.Parse("node:2 core:4")
	if err != nil {
		t.Fatal(err)
	}
	machine := toy()
	var measured model.Model
	p := sim.System{
		Topology: tree,
		Words:    1 << 13,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			meter, err := model.NewMeter(f)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				machine, err := meter.Measure(ctx, w, w.(*sim.Window).Now)
				if w.Rank() == 0 {
					measured = machine
				}
				return err
			}}, err
		},
	}.Predict(machine, 1)
	if p.Failure != nil {
		t.Fatal(p.Failure)
	}
	near := func(what string, got, want, tolerance float64) {
		if math.Abs(got-want) > tolerance*want+0.01 {
			t.Errorf("%s: measured %.4g, want %.4g as in the model", what, got, want)
		}
	}
	if len(measured.Levels) != len(machine.Levels) {
		t.Fatalf("measured\n%s", &measured)
	}
	for i, got := range measured.Levels {
		want := machine.Levels[i]
		if got.Level != want.Level {
			t.Fatalf("level %d is %q, want %q", i, got.Level, want.Level)
		}
		word := 8 * want.Get.Beta // the model also charges for the bytes of a word
		near(got.Level+" get", got.Get.Alpha, want.Get.Alpha+word, 0.01)
		near(got.Level+" atomic", got.Atomic.Alpha, want.Atomic.Alpha+word, 0.01)
		near(got.Level+" put", got.Put.Alpha, machine.Issue+want.Put.Alpha+word, 0.01)
		near(got.Level+" get beta", got.Get.Beta, want.Get.Beta, 0.05)
		near(got.Level+" put beta", got.Put.Beta, want.Put.Beta, 0.05)
	}
	// The four ranks of the other node pass the port one every 58 ns.
	near("contention", measured.Levels[2].Atomic.Busy, 58, 0.05)
	near("issue", measured.Issue, machine.Issue, 0.01)
	near("wake", measured.Wake, machine.Wake, 0.2)
}
