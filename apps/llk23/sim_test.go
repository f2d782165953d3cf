package main

import (
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

var (
	firstSeed = flag.Uint64("seed", 1, "the first seed that the simulator draws a schedule from")
	seeds     = flag.Int("sim.seeds", 200, "how many seeds")
)

// simulated is strips in the simulator, whose ranks see their windows through
// view.
func simulated(t *testing.T, p problem, ranks int, faults sim.Faults, view func(rma.Window) rma.Window) sim.System {
	want := reference(t, p)
	return sim.System{
		Topology: topology.Flat(ranks),
		Words:    stripWords(p.cols),
		Faults:   faults,
		Command:  "go test ./apps/llk23 -sim.seeds 1 -run '^" + t.Name() + "$'",
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			s, err := newStrips(f, p)
			if err != nil {
				return sim.Program{}, err
			}
			for r := range ranks {
				if err := s.prepare(context.Background(), rma.Rank(r)); err != nil {
					return sim.Program{}, err
				}
			}
			return sim.Program{
				Rank:  func(ctx context.Context, w rma.Window) error { return s.sweep(ctx, view(w)) },
				Check: func() error { return compare(context.Background(), s.result(), want) },
			}, nil
		},
	}
}

func sound(w rma.Window) rma.Window { return w }

func small(rows, cols, iters int) problem {
	return problem{rows: rows, cols: cols, iters: iters, kernel: listing(), values: smooth}
}

// TestSeeds plays strips under random schedules in which whatever is not
// flushed arrives late and out of order.
func TestSeeds(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      problem
		ranks  int
		faults sim.Faults
	}{
		{name: "one row each", p: small(3, 2, 4), ranks: 3},
		{name: "uneven", p: small(7, 3, 4), ranks: 3},
		{name: "delays", p: small(5, 2, 5), ranks: 4, faults: sim.Faults{Delays: 4}},
		{name: "pauses", p: small(4, 3, 5), ranks: 4, faults: sim.Faults{Pauses: 4, Delays: 1}},
		// A rank that loses a neighbour ends with an error and does not hang.
		{name: "crashes", p: small(6, 2, 6), ranks: 4, faults: sim.Faults{Crashes: 1, Delays: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if report := simulated(t, c.p, c.ranks, c.faults, sound).Seeds(*firstSeed, *seeds); report.Failure != nil {
				t.Error(report.Failure)
			}
		})
	}
}

// TestExhaustive plays every schedule of small systems.
func TestExhaustive(t *testing.T) {
	for _, c := range []struct {
		p      problem
		ranks  int
		faults sim.Faults
	}{
		{p: small(2, 2, 3), ranks: 2},
		{p: small(4, 2, 3), ranks: 2},
		{p: small(3, 1, 4), ranks: 3},
		{p: small(6, 2, 3), ranks: 3},
		{p: small(5, 1, 3), ranks: 4},
		{p: small(2, 1, 3), ranks: 2, faults: sim.Faults{Crashes: 1}},
	} {
		report := simulated(t, c.p, c.ranks, c.faults, sound).Exhaust(sim.Limit{})
		if report.Failure != nil {
			t.Error(report.Failure)
		} else if !report.Complete {
			t.Errorf("the search ended after %d states", report.States)
		}
		t.Logf("%d rows, %d ranks: %d states", c.p.rows, c.ranks, report.States)
	}
}

// TestSpecimens shows that the simulator would notice defects that go unnoticed
// wherever every operation is complete at once.
func TestSpecimens(t *testing.T) {
	for _, c := range []struct {
		name string
		view func(rma.Window) rma.Window
	}{
		{"flag before data", func(w rma.Window) rma.Window { return &unflushed{Window: w} }},
		{"row of any iteration", func(w rma.Window) rma.Window { return &hasty{w} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := simulated(t, small(4, 2, 4), 2, sim.Faults{}, c.view).Seeds(1, 100)
			if report.Failure == nil {
				t.Fatal("100 seeds find nothing wrong")
			}
			if !errors.Is(report.Failure, errDiffers) {
				t.Errorf("the failure is %v, want %v", report.Failure.Err, errDiffers)
			}
			t.Logf("found after %d seeds: %v", report.Runs, report.Failure.Err)
		})
	}
}

// unflushed forgets the flush between a row and its flag.
type unflushed struct {
	rma.Window
	row bool // was just put
}

func (w *unflushed) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	w.Window.PutBytes(target, disp, src)
	w.row = true
}

func (w *unflushed) Flush(target rma.Rank) {
	if !w.row {
		w.Window.Flush(target)
	}
	w.row = false
}

// hasty takes whatever row is there, once there is one.
type hasty struct{ rma.Window }

func (w *hasty) Await(ctx context.Context, target rma.Rank, disp rma.Disp, _ rma.Until) (uint64, error) {
	return w.Window.Await(ctx, target, disp, rma.IsNot(0))
}
