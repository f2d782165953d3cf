package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// The program sorts, and refuses a result in which one bit differs.
func TestMergesort(t *testing.T) {
	defer func(b, n int) { *blocks, *size = b, n }(*blocks, *size)
	*blocks, *size = 3, 1000
	if err := orwl.Run(t.Context(), orwl.Options{}, mergesort); err != nil {
		t.Error(err)
	}
	err := orwl.Run(t.Context(), orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) error {
		j := declare(rt)
		if err := j.sort(ctx); err != nil {
			return err
		}
		j.want[len(j.want)/2] ^= 1
		return j.merge(ctx, true)
	})
	if !errors.Is(err, errDiffer) {
		t.Errorf("another bit: %v, want %v", err, errDiffer)
	}
}

// Runs of any keys are merged, in both ways: equal keys, blocks that end together, a run that ends before
// another begins, runs of different lengths.
func TestMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		runs, most int
		below      uint64
	}{{1, 1, 9}, {1, 5, 9}, {2, 4, 1}, {3, 6, 2}, {5, 4, 10}, {16, 8, 1000}, {9, 9, 1 << 63}} {
		for _, ahead := range []bool{false, true} {
			var all [][]uint64
			var want []uint64
			for i := range c.runs {
				run := make([]uint64, blockOf*(1+random.IntN(c.most)))
				for k := range run {
					run[k] = random.Uint64N(c.below) + uint64(i%2)*c.below/2
				}
				slices.Sort(run)
				all, want = append(all, run), append(want, run...)
			}
			slices.Sort(want)
			got, _, err := merge(t.Context(), nil, kept(t, all), ahead)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v, ahead %t: %d keys, %v, want %d keys, sorted", c, ahead, len(got), err, len(want))
			}
		}
	}
}

// A merge that fails leaves no request and no access behind.
func TestMergeFails(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		for _, held := range []struct{ run, block int }{{0, 0}, {1, 0}, {1, 1}, {2, 2}} {
			all := kept(t, [][]uint64{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}, {7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}})
			var other handle.Handle
			if err := errors.Join(other.Request(all[held.run][held.block], resource.Write), other.Acquire(t.Context())); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, err := merge(ctx, nil, all, ahead); !errors.Is(err, context.Canceled) {
				t.Fatalf("block %v is held: %v, want %v", held, err, context.Canceled)
			}
			if err := other.Release(); err != nil {
				t.Fatal(err)
			}
			for _, blocks := range all {
				for _, b := range blocks {
					if err := errors.Join(other.Request(b, resource.Write), granted(&other), other.Cancel()); err != nil {
						t.Errorf("block %v was held, ahead %t: %s: %v", held, ahead, b.Name(), err)
					}
				}
			}
		}
	}
}

// granted reports that an access would wait.
func granted(h *handle.Handle) error {
	if !h.Test() {
		return errors.New("a writer would wait")
	}
	return nil
}

// blockOf is how many keys a block of kept has.
const blockOf = 4

// kept are resources with the keys of runs.
func kept(t *testing.T, runs [][]uint64) [][]*resource.Resource {
	t.Helper()
	all := make([][]*resource.Resource, len(runs))
	for i, run := range runs {
		for keys := range slices.Chunk(run, blockOf) {
			r, err := resource.New(fmt.Sprintf("run %d, block %d", i, len(all[i])), 8*len(keys))
			if err != nil {
				t.Fatal(err)
			}
			if err := orwl.Fill(t.Context(), r, func(to []uint64) { copy(to, keys) }); err != nil {
				t.Fatal(err)
			}
			all[i] = append(all[i], r)
		}
	}
	return all
}
