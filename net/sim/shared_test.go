package sim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// pair is a system of two ranks that share memory. Rank 0 awaits that its word is 1.
// Meanwhile rank 1 changes the word, by direct access or by an operation.
func pair(change func(w rma.Shared, flag rma.Disp, word rma.Word)) sim.System {
	return sim.System{
		Topology: topology.Flat(2),
		Shared:   true,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			flag, err := f.Alloc(1)
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				if w.Rank() == 0 {
					_, err := w.Await(ctx, 0, flag, rma.Is(1))
					return err
				}
				word, ok := w.(rma.Shared).Direct(0, flag)
				if !ok {
					return errors.New("rank 0's memory is out of reach")
				}
				change(w.(rma.Shared), flag, word)
				return nil
			}}, err
		},
	}
}

// A sleeping rank goes on only when another rank wakes it. The search finds the
// programs that forget the wake-up.
func TestWakeUps(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w rma.Shared, flag rma.Disp, word rma.Word)
		hangs  bool
	}{
		{"store", func(_ rma.Shared, _ rma.Disp, word rma.Word) { word.Store(1) }, true},
		{"swap", func(_ rma.Shared, _ rma.Disp, word rma.Word) { word.Swap(1) }, true},
		{"add", func(_ rma.Shared, _ rma.Disp, word rma.Word) { word.Add(1) }, true},
		{"compare and swap", func(_ rma.Shared, _ rma.Disp, word rma.Word) { word.CompareAndSwap(0, 1) }, true},
		{"notify too early", func(w rma.Shared, flag rma.Disp, word rma.Word) { w.Notify(0, flag); word.Store(1) }, true},
		{"woken for a value that does not last", func(w rma.Shared, flag rma.Disp, word rma.Word) {
			word.Store(1)
			w.Notify(0, flag)
			word.Store(0)
			word.Store(1)
		}, true},
		{"only reads", func(w rma.Shared, flag rma.Disp, word rma.Word) {
			word.Store(1)
			w.Get(0, flag)
			w.FetchOp(0, flag, rma.NoOp, 0)
			w.CAS(0, flag, 7, 8)
		}, true},
		{"store and notify", func(w rma.Shared, flag rma.Disp, word rma.Word) { word.Store(1); w.Notify(0, flag) }, false},
		{"an operation", func(w rma.Shared, flag rma.Disp, _ rma.Word) { w.FetchOp(0, flag, rma.Sum, 1) }, false},
		{"put and flush", func(w rma.Shared, flag rma.Disp, _ rma.Word) { w.Put(0, flag, 1); w.Flush(0) }, false},
		{"put", func(w rma.Shared, flag rma.Disp, _ rma.Word) { w.Put(0, flag, 1) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for way, failure := range map[string]*sim.Failure{
				"exhaust": pair(c.change).Exhaust(sim.Limit{}).Failure,
				"seeds":   pair(c.change).Seeds(0, 100).Failure,
			} {
				if hangs := failure != nil && errors.Is(failure, sim.ErrDeadlock); hangs != c.hangs {
					t.Errorf("%s: %v; hangs %t, want %t", way, failure, hangs, c.hangs)
				}
			}
			if p := pair(c.change).Predict(toy(), 0); p.Failure != nil && !c.hangs {
				t.Error(p.Failure)
			}
		})
	}
}

// On a failed window a store takes effect, and an operation does not. So a rank that
// does not look at Failed can break a promise that other ranks rely on.
func TestFailedWindowStillStores(t *testing.T) {
	reached := [2]bool{}
	s := pair(nil)
	s.Faults = sim.Faults{Crashes: 1}
	s.Setup = func(f *sim.Fabric) (sim.Program, error) {
		base, err := f.Alloc(2)
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			if w.Rank() == 0 {
				_, err := w.Await(ctx, 0, base, rma.Is(7)) // until rank 0 crashes
				return err
			}
			shared := w.(rma.Shared)
			word, _ := shared.Direct(1, base+1)
			for w.Err() == nil {
				w.Pause(1)
				if w.FetchOp(1, base, rma.NoOp, 0); shared.Failed().Load() != (w.Err() != nil) {
					t.Error("Failed and Err do not agree")
				}
			}
			w.FetchOp(1, base, rma.Sum, 1)
			reached[0] = reached[0] || word.Load() == 0
			word.Store(1)
			reached[1] = reached[1] || word.Load() == 1
			return nil
		}}, err
	}
	s.Seeds(0, 200)
	if reached != [2]bool{true, true} {
		t.Errorf("after a failure, FetchOp has no effect and Store has one: %t, want both", reached)
	}
}

// Direct reports false if ranks share no memory.
func TestNothingShared(t *testing.T) {
	s := pair(nil)
	s.Shared = false
	if f := s.Seed(0).Failure; f == nil || errors.Is(f, sim.ErrDeadlock) {
		t.Errorf("got %v, want the error of a body that finds the memory out of reach", f)
	}
}
