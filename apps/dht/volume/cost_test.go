package volume_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/net/rmatest"
)

// TestCost counts the operations on the owner's memory that the comments of lockless and locked
// promise: for the element in the table, and for the third of a chain.
func TestCost(t *testing.T) {
	type cost struct{ reads, atomics, puts int }
	const fetches, atomics, lock = volume.AtomicsOnly, volume.AtomicsAndGets, "foMPI-RW" // the lock takes one atomic and one put
	get := func(key uint64) func(context.Context, volume.Side) error {
		return func(ctx context.Context, s volume.Side) error { _, _, err := s.Get(ctx, key); return err }
	}
	insert := func(key uint64) func(context.Context, volume.Side) error {
		return func(ctx context.Context, s volume.Side) error { return s.InsertNew(ctx, key, key) }
	}
	deeds := []struct {
		what string
		do   func(ctx context.Context, s volume.Side) error
		want map[string]cost
	}{
		{"InsertNew into the table", insert(1), map[string]cost{fetches: {0, 1, 3}, atomics: {0, 1, 3}, lock: {1, 1, 3}}},
		{"InsertNew into the heap", insert(2), map[string]cost{fetches: {0, 5, 3}, atomics: {1, 4, 3}, lock: {2, 1, 5}}},
		{"InsertNew behind others", insert(3), map[string]cost{fetches: {0, 5, 3}, atomics: {1, 4, 3}, lock: {2, 1, 5}}},
		{"Get of the first", get(1), map[string]cost{fetches: {0, 3, 0}, atomics: {3, 0, 0}, lock: {1, 1, 1}}},
		{"Get of the third", get(3), map[string]cost{fetches: {0, 9, 0}, atomics: {9, 0, 0}, lock: {3, 1, 1}}},
	}
	for _, discipline := range []string{fetches, atomics, lock} {
		f, all := windows(t, 2)
		v, err := volume.New(f, volume.Options{Discipline: discipline, Layout: volume.Layout{Buckets: 1, Heap: 8}})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		if _, err := v.At(ctx, all[0]); err != nil {
			t.Fatal(err)
		}
		tally := rmatest.NewTally(far{all[1]})
		s, err := v.At(ctx, far{tally})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range deeds {
			tally.Reset()
			if err := d.do(ctx, s); err != nil {
				t.Fatal(err)
			}
			c := tally.Remote
			got := cost{c.Get + c.GetBytes, c.FetchOp + c.CAS, c.Put + c.PutBytes + c.Accumulate}
			if got != d.want[discipline] {
				t.Errorf("%s, %s: %s, want %+v", discipline, d.what, fmt.Sprintf("%+v (%v)", got, c), d.want[discipline])
			}
		}
	}
}

// TestNoAllocation keeps the hot paths free of garbage, for words reached either
// way.
func TestNoAllocation(t *testing.T) {
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			s := sides(t, 2, how, volume.Options{Discipline: discipline, Layout: volume.Layout{Buckets: 4, Heap: 200}})[1]
			ctx, key := context.Background(), uint64(0)
			allocs := testing.AllocsPerRun(100, func() {
				key++
				_ = s.InsertNew(ctx, key, 2)
				_, _, _ = s.Get(ctx, key)
			})
			if allocs != 0 {
				t.Errorf("%s, %s: %g allocations", discipline, how, allocs)
			}
		}
	}
}
