package locks_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// sortedOrder is the order in which ranks get a lock that come one after the other, while
// rank 0 holds it. Ranks 1 to 3 are rank 0's neighbours, 4 to 7 live in another element. The
// time is virtual, so a rank that waits has done what it can before the next one comes.
func sortedOrder(t *testing.T, spec locks.Spec, o locks.Options, arrivals []int) (order []int) {
	t.Helper()
	system := sim.System{
		Topology: machine(t, "node:2 core:4"), Shared: !o.Operations, MaxSteps: 1 << 18,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			order = nil
			l, err := spec.New(f, o)
			if err != nil {
				return sim.Program{}, err
			}
			return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
				const long = 1 << 20
				m, place := l.At(w), slices.Index(arrivals, int(w.Rank()))
				if w.Rank() != 0 && place < 0 {
					return nil
				}
				w.Pause((place + 1) * long)
				if err := m.Acquire(ctx); err != nil {
					return err
				}
				order = append(order, int(w.Rank()))
				if w.Rank() == 0 {
					w.Pause(16 * long)
				}
				w.Pause(long)
				m.Release()
				return nil
			}}, nil
		},
	}
	if report := system.Predict(sim.Machines()[0], 1); report.Failure != nil {
		t.Fatal(report.Failure)
	}
	return order[1:]
}

// TestBatches says in which order a sorted queue serves ranks: neighbours of the holder come
// first, at most Batch in a row. The last of the queue is never moved.
func TestBatches(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, c := range []struct {
		lock           string
		batch          int
		arrivals, want []int
	}{
		{"MCS", 0, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		{"TTS-MCS", 0, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		{"TAS-MCS", 0, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		// The queue of SHFL is empty when rank 1 becomes its head.
		{"SHFL", 1, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 2, 5, 3, 6}},
		{"SHFL", 2, []int{1, 4, 2, 5, 6, 3}, []int{1, 4, 5, 2, 6, 3}},
		{"SHFL", 3, []int{1, 4, 2, 5, 6, 3}, []int{1, 4, 5, 6, 2, 3}},
		{"SHFL", 9, []int{1, 4, 2, 5, 3, 6}, []int{1, 4, 5, 2, 3, 6}},
		{"SHFL-TAS", 2, []int{1, 4, 2, 5, 6, 3}, []int{1, 4, 5, 2, 6, 3}},
		{"SHFL-TAS", 3, []int{1, 4, 2, 5, 6, 3}, []int{1, 4, 5, 6, 2, 3}},
		{"CNA", 1, []int{4, 1, 5, 2, 6, 3}, []int{4, 1, 5, 2, 6, 3}},
		{"CNA", 2, []int{4, 1, 5, 2, 6, 3}, []int{1, 4, 5, 2, 3, 6}},
		{"CNA", 9, []int{4, 1, 5, 2, 6, 3}, []int{1, 2, 3, 4, 5, 6}},
		{"CNA", 9, []int{4, 5, 1, 6, 7, 2}, []int{1, 2, 4, 5, 6, 7}},
		{"Fissile", 9, []int{1, 4, 2, 5, 3, 6}, []int{1, 2, 3, 4, 5, 6}},
	} {
		for _, way := range []way{byOperations, direct} {
			t.Run(fmt.Sprintf("%s/%d/%v/%s", c.lock, c.batch, c.arrivals, way), func(t *testing.T) {
				spec, _ := locks.ByName(c.lock)
				got := sortedOrder(t, spec, locks.Options{Batch: c.batch, Operations: way == byOperations}, c.arrivals)
				if !slices.Equal(got, c.want) {
					t.Errorf("the order is %v, want %v", got, c.want)
				}
			})
		}
	}
}
