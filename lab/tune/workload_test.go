package tune

import (
	"math"
	"testing"
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// TestWorkload checks that the cost of several cases is their geometric mean, that options count, and
// that a play repeats.
func TestWorkload(t *testing.T) {
	machine, err := sim.MachineByName("piz-daint")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := topology.Parse("node:2 core:2")
	if err != nil {
		t.Fatal(err)
	}
	ecsb, _ := lab.BenchmarkByName("ecsb")
	spec, _ := lab.LockByName("rma-rw")
	play := func(o locks.Options, writers ...float64) Score {
		w := Workload{Figure: lab.FigureIteration, Bounds: Bounds{Wait: 1},
			Plan: lab.Plan{Benchmarks: []lab.Benchmark{ecsb}, Machines: []*topology.Tree{tree}, Writers: writers}}
		s, err := w.Play(t.Context(), Candidate{spec, o}, arena.Sim, lab.Length{Time: 200 * time.Microsecond, Repeats: 1, Seed: 1}, machine)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rare, often := play(locks.Options{}, .1), play(locks.Options{}, .9)
	both := play(locks.Options{}, .1, .9)
	if math.Abs(both.Cost/math.Sqrt(rare.Cost*often.Cost)-1) > 1e-9 || both.Wait != max(rare.Wait, often.Wait) || both.CV != max(rare.CV, often.CV) {
		t.Errorf("%+v of %+v and %+v", both, rare, often)
	}
	if both != play(locks.Options{}, .1, .9) || both.Cost == play(locks.Options{TDC: 1}, .1, .9).Cost || !(both.Beyond > 1) {
		t.Errorf("%+v: a play does not repeat, T_DC does not count, or waits of 1 ns are kept", both)
	}
}
