package sim_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// sharing is a machine whose ranks share processors: a slice of 100 µs, and 1 µs for each change and
// wake-up. A rank looks ten times, for 10 µs.
func sharing(processors int) model.Model {
	m := toy()
	m.Levels, m.Port, m.Direct = m.Levels[:2], "", &model.Direct{Load: 1, Store: 5, Swap: 5}
	m.Scheduler = &model.Scheduler{Ranks: model.Processes, Processors: processors,
		Slice: 100e3, Change: 1e3, Wake: 1e3, Look: 1e3, Slack: 50e3}
	return m
}

// played is when the ranks end that share processors.
func played(t *testing.T, ranks, processors int, body func(w *sim.Window, d rma.Disp)) []time.Duration {
	t.Helper()
	p := sim.System{Topology: topology.Flat(ranks), Setup: func(f *sim.Fabric) (sim.Program, error) {
		d, err := f.Alloc(1)
		return sim.Program{Rank: func(_ context.Context, w rma.Window) error {
			body(w.(*sim.Window), d)
			return w.Err()
		}}, err
	}}.Predict(sharing(processors), 1)
	if p.Failure != nil {
		t.Fatal(p.Failure)
	}
	return p.Ended
}

// between fails unless a time lies between two others.
func between(t *testing.T, what string, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s: %v, want %v to %v", what, got, least, most)
	}
}

// Two ranks that compute take turns on one processor, and need not on two.
func TestRanksShareProcessors(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	compute := func(w *sim.Window, d rma.Disp) {
		for range 100 {
			w.Compute(10 * us)
			w.Get(w.Rank(), d)
		}
	}
	one := played(t, 2, 1, compute)
	between(t, "one processor", max(one[0], one[1]), 2*ms, 2*ms+60*us)
	between(t, "the other rank", min(one[0], one[1]), 1800*us, 2*ms+30*us)
	two := played(t, 2, 2, compute)
	between(t, "two processors", max(two[0], two[1]), ms, ms+10*us)
}

// A rank that waits leaves its processor to the rank that it waits for. To wake it takes time.
func TestWaitingRankLeavesItsProcessor(t *testing.T) {
	const us = time.Microsecond
	ended := played(t, 2, 1, func(w *sim.Window, d rma.Disp) {
		if w.Rank() == 0 {
			w.Await(context.Background(), 0, d, rma.Is(1))
			return
		}
		w.Compute(100 * us)
		w.Put(0, d, 1)
		w.Flush(0)
	})
	between(t, "the rank that waits", ended[0], 110*us, 116*us)
	between(t, "the rank that wakes it", ended[1], 110*us, 116*us)
}

// A rank that keeps out of a convoy sleeps, and the others run meanwhile. Where each rank has
// a processor of its own in the model, it goes on at once.
func TestSimulatedRankIsConsiderate(t *testing.T) {
	const us = time.Microsecond
	turns := func(w *sim.Window, d rma.Disp) {
		again := 1
		for n := 0; n < 8192; n++ {
			w.Get(w.Rank(), d)
			if again--; again == 0 {
				w.HandedOver()
				again = w.Returns(4096)
			}
		}
	}
	alone := played(t, 1, 1, turns)
	crowd := played(t, 4, 1, turns)
	if slices.Min(crowd) < alone[0]+100*us {
		t.Errorf("4 ranks on one processor end at %v, and one alone at %v: one of them had no rest", crowd, alone[0])
	}
	own := lasts(t, 4, func(w *sim.Window, _ rma.Disp) {
		w.HandedOver()
		if again := w.Returns(1); again != 0 {
			t.Errorf("a rank with its own processor has to return after %d turns", again)
		}
	})
	between(t, "own processor", own[0], 0, us)
}
