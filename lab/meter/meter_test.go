package meter_test

import (
	"context"
	"math"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/lab/meter"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// The meter, run on a simulated machine, measures the model that the machine plays:
// both give every figure the same meaning.
func TestMeterFindsTheMachine(t *testing.T) {
	rings.Computes(t)
	tree, err := topology.Parse("node:2 core:4")
	if err != nil {
		t.Fatal(err)
	}
	machine := toy()
	for i := range machine.Levels {
		machine.Levels[i].Coherent = false
	}
	measured := measureOn(t, tree, machine)
	near := func(what string, got, want, tolerance float64) { nearly(t, what, got, want, tolerance) }
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
		near(got.Level+" put", got.Put.Alpha, want.Put.Alpha+word, 0.01)
		near(got.Level+" get beta", got.Get.Beta, want.Get.Beta, 0.05)
		near(got.Level+" put beta", got.Put.Beta, want.Put.Beta, 0.05)
	}
	// The four ranks of the other node pass the port one every 58 ns.
	near("contention", measured.Levels[2].Atomic.Busy, 58, 0.05)
	near("issue", measured.Levels[2].Issue, machine.Levels[2].Issue, 0.01)
	near("wake", measured.Wake, machine.Wake, 0.2)
}

// Where ranks share memory, the meter tells a line that the rank has from one that another
// rank has changed last.
func TestMeterFindsCaches(t *testing.T) {
	rings.Computes(t)
	machine := toy()
	machine.Levels = machine.Levels[:2]
	machine.Port, machine.Direct = "", &model.Direct{Load: 2, Store: 7, Swap: 9}
	machine.Levels[1].Shared = model.Cost{Alpha: 250}
	measured := measureOn(t, topology.Flat(2), machine)
	nearly(t, "load", measured.Direct.Load, 2, 0.01)
	nearly(t, "store", measured.Direct.Store, 7, 0.01)
	nearly(t, "swap", measured.Direct.Swap, 9, 0.01)
	if len(measured.Levels) != 2 || !measured.Levels[1].Coherent {
		t.Fatalf("measured\n%s", &measured)
	}
	nearly(t, "own line", measured.Levels[0].Get.Alpha, 10, 0.1)
	nearly(t, "other's line", measured.Levels[1].Get.Alpha, 100, 0.01)
	nearly(t, "atomic on the other's line", measured.Levels[1].Atomic.Alpha, 100, 0.01)
	nearly(t, "change of a line that both have", measured.Levels[1].Shared.Alpha, 250, 0.01)
}

// Where ranks share processors, the meter finds what a wake-up takes: of the rank that makes it, of a processor
// that changes from one rank to another, and of one that is idle.
func TestMeterFindsTheScheduler(t *testing.T) {
	machine := sharing(2)
	machine.Scheduler.Wake, machine.Scheduler.Change, machine.Scheduler.Startle = 3e3, 4e3, 20e3
	play := func(ranks int, part func(context.Context, *meter.Meter, *sim.Window) error) {
		t.Helper()
		if p := (sim.System{Topology: topology.Flat(ranks), Words: 1 << 13, Setup: func(f *sim.Fabric) (sim.Program, error) {
			meter, err := meter.New(f)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error { return part(ctx, meter, w.(*sim.Window)) }}, err
		}}).Predict(machine, 1); p.Failure != nil {
			t.Fatal(p.Failure)
		}
	}
	var wake, change, startle float64
	play(2, func(ctx context.Context, meter *meter.Meter, w *sim.Window) error {
		took, err := meter.Awaken(ctx, w, w.Now)
		if w.Rank() == 0 {
			startle = took
		}
		return err
	})
	nearly(t, "startle", startle, 20e3, 0.05)
	machine.Scheduler.Processors, machine.Scheduler.Startle = 1, 0
	play(8, func(ctx context.Context, meter *meter.Meter, w *sim.Window) error {
		a, b, err := meter.Crowd(ctx, w, w.Now)
		if w.Rank() == 0 {
			wake, change = a, b
		}
		return err
	})
	nearly(t, "wake", wake, 3e3, 0.1)
	nearly(t, "change", change, 4e3, 0.1)
}

// measureOn is what a meter measures on a simulated machine.
func measureOn(t *testing.T, tree *topology.Tree, machine model.Model) (measured model.Model) {
	t.Helper()
	p := sim.System{
		Topology: tree,
		Words:    1 << 13,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			meter, err := meter.New(f)
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
	return measured
}

func nearly(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want+0.01 {
		t.Errorf("%s: measured %.4g, want %.4g as in the model", what, got, want)
	}
}

// toy is a machine in round figures.
func toy() model.Model {
	all := func(level string, alpha, beta, busy float64, coherent bool) model.LevelCost {
		c := model.Cost{Alpha: alpha, Beta: beta, Busy: busy}
		return model.LevelCost{Level: level, Put: c, Get: c, Atomic: c, Issue: 5, Coherent: coherent}
	}
	return model.Model{
		Name: "toy", Source: "round figures",
		Levels: []model.LevelCost{all(model.Self, 10, 0, 0, true), all("node", 100, 0, 0, true), all("machine", 1000, 1, 50, false)},
		Wake:   20, Port: "node",
	}
}

// sharing is a toy whose ranks share processors.
func sharing(processors int) model.Model {
	m := toy()
	m.Levels, m.Port, m.Direct = m.Levels[:2], "", &model.Direct{Load: 1, Store: 5, Swap: 5}
	m.Scheduler = &model.Scheduler{Ranks: model.Processes, Processors: processors,
		Slice: 100e3, Change: 1e3, Wake: 1e3, Look: 1e3, Slack: 50e3}
	return m
}
