package volume_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/internal/rings"
)

func init() { rings.FewChecks() }

// TestModel plays random operations by random ranks of a volume beside a Go map:
// every discipline, with words reached directly and by operations, in many
// buckets and in one, until there is no room. Then it finds all again.
func TestModel(t *testing.T) {
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			t.Run(discipline+"/"+how, func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) { playModel(t, rt, discipline, how) })
			})
		}
	}
}

func playModel(t *testing.T, rt *rapid.T, discipline, how string) {
	ctx, want := context.Background(), map[uint64]uint64{}
	layout := volume.Layout{Buckets: rapid.IntRange(1, 4).Draw(rt, "buckets"), Heap: rapid.IntRange(0, 16).Draw(rt, "heap")}
	all := sides(t, 3, how, volume.Options{Discipline: discipline, Layout: layout})
	side := func() volume.Side { return rapid.SampledFrom(all).Draw(rt, "rank") }
	// Keys are few, so that they meet, and the greatest could be taken for something else.
	key := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Just(^uint64(0)))
	get := func(k uint64) {
		got, found, err := side().Get(ctx, k)
		if v, there := want[k]; err != nil || found != there || got != v {
			rt.Fatalf("Get(%d) is %d, %v, %v, want %d, %v", k, got, found, err, v, there)
		}
	}
	rt.Repeat(map[string]func(*rapid.T){
		"get": func(rt *rapid.T) { get(key.Draw(rt, "key")) },
		"insert": func(rt *rapid.T) {
			k, v := key.Draw(rt, "key"), rapid.OneOf(rapid.Just(^uint64(0)), rapid.Uint64()).Draw(rt, "value")
			if _, there := want[k]; there {
				return
			}
			err := side().InsertNew(ctx, k, v)
			if full := errors.Is(err, volume.ErrFull); err != nil && !full || full && len(want) <= layout.Heap ||
				!full && len(want) >= layout.Buckets+layout.Heap {
				rt.Fatalf("InsertNew(%d) beside %d others: %v", k, len(want), err)
			}
			if err == nil {
				want[k] = v
			}
		},
	})
	for k := range want {
		get(k)
	}
}
