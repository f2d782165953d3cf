package volume_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/net/rmatest"
)

// TestCost counts the operations on the owner's memory that the comments of
// atomics and locked promise, for an element in the table and for the third of a
// chain.
func TestCost(t *testing.T) {
	const (
		first, third = 1, 3
		absent       = 9
	)
	type cost struct{ reads, atomics, puts int } // puts are Put, PutBytes, Accumulate
	type deed struct {
		what string
		do   func(ctx context.Context, s volume.Side) error
		want map[string]cost
	}
	const atomics, lock = volume.AtomicsAndGets, "foMPI-RW" // which takes one atomic and one put
	deeds := []deed{
		{"Get of the first", func(ctx context.Context, s volume.Side) error { _, _, err := s.Get(ctx, first); return err },
			map[string]cost{atomics: {3, 0, 0}, lock: {1, 1, 1}}},
		{"Get of the third", func(ctx context.Context, s volume.Side) error { _, _, err := s.Get(ctx, third); return err },
			map[string]cost{atomics: {9, 0, 0}, lock: {3, 1, 1}}},
		{"Set of the first", func(ctx context.Context, s volume.Side) error { _, err := s.Set(ctx, first, 7); return err },
			map[string]cost{atomics: {2, 0, 1}, lock: {1, 1, 2}}},
		{"Add", func(ctx context.Context, s volume.Side) error { _, err := s.Add(ctx, first, 7); return err },
			map[string]cost{atomics: {2, 1, 0}, lock: {1, 1, 2}}},
		{"CompareAndSet", func(ctx context.Context, s volume.Side) error {
			_, _, err := s.CompareAndSet(ctx, first, 14, 7)
			return err
		},
			map[string]cost{atomics: {2, 1, 0}, lock: {1, 1, 2}}},
		{"InsertNew", func(ctx context.Context, s volume.Side) error { return s.InsertNew(ctx, absent, 7) },
			map[string]cost{atomics: {1, 4, 5}, lock: {2, 1, 6}}},
		{"Delete", func(ctx context.Context, s volume.Side) error { _, err := s.Delete(ctx, first); return err },
			map[string]cost{atomics: {2, 1, 1}, lock: {3, 1, 5}}},
		{"Insert into an empty volume", nil, map[string]cost{atomics: {1, 1, 4}, lock: {1, 1, 4}}},
	}
	for _, discipline := range []string{atomics, lock} {
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
		count := func(d deed) {
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
		into := deeds[len(deeds)-1]
		into.do = func(ctx context.Context, s volume.Side) error { _, err := s.Insert(ctx, first, 7); return err }
		count(into)
		for k := uint64(2); k <= third; k++ {
			if err := s.InsertNew(ctx, k, k); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range deeds[:len(deeds)-1] {
			count(d)
		}
	}
}

// TestNoAllocation keeps the hot paths free of garbage, for words reached either
// way.
func TestNoAllocation(t *testing.T) {
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			s := sides(t, 2, how, volume.Options{Discipline: discipline, Layout: volume.Layout{Buckets: 4, Heap: 8}})[1]
			ctx := context.Background()
			ops := []volume.Op{{Kind: volume.Get, Key: 1}, {Kind: volume.Set, Key: 2, Value: 1}}
			allocs := testing.AllocsPerRun(100, func() {
				_, _ = s.Set(ctx, 1, 2)
				_, _, _ = s.Get(ctx, 1)
				_, _ = s.Add(ctx, 1, 2)
				_, _ = s.Delete(ctx, 1)
				_, _ = s.Insert(ctx, 1, 2)
				_ = s.Do(ctx, ops)
			})
			if allocs != 0 {
				t.Errorf("%s, %s: %g allocations", discipline, how, allocs)
			}
		}
	}
}
