package volume_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// TestLinearizable lets goroutines loose on few keys, with words reached either
// way, and looks whether what they saw fits together.
func TestLinearizable(t *testing.T) {
	const ranks, each = 4, 60
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			t.Run(discipline+"/"+how, func(t *testing.T) {
				for round := range uint64(10) {
					deeds, keys := drawn(rand.New(rand.NewPCG(round, 0)), ranks, each)
					all := sides(t, ranks, how, volume.Options{Discipline: discipline,
						Layout: volume.Layout{Buckets: 1 + int(round%3), Heap: keys}})
					c := new(clerk)
					together(t, all, func(p int, s volume.Side) error {
						for _, d := range deeds[p] {
							if err := c.do(context.Background(), p, s, d); err != nil {
								return err
							}
						}
						return nil
					})
					if err := c.judge(); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// together runs a body for each rank at once.
func together(t *testing.T, all []volume.Side, body func(p int, s volume.Side) error) {
	t.Helper()
	var ranks sync.WaitGroup
	errs := make([]error, len(all))
	for p, s := range all {
		ranks.Go(func() { errs[p] = body(p, s) })
	}
	ranks.Wait()
	for p, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", p, err)
		}
	}
}

// TestAppend lets goroutines append to one chain at once, by its last element:
// nothing is lost and nothing is there twice.
func TestAppend(t *testing.T) {
	const ranks, each = 4, 200
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			t.Run(discipline+"/"+how, func(t *testing.T) {
				ctx := context.Background()
				all := sides(t, ranks, how, volume.Options{Discipline: discipline, Layout: volume.Layout{Buckets: 2, Heap: ranks * each}})
				together(t, all, func(p int, s volume.Side) error {
					for i := range uint64(each) {
						if err := s.InsertNew(ctx, uint64(p)<<32|i, i); err != nil {
							return err
						}
					}
					return nil
				})
				for p := range uint64(ranks) {
					for i := range uint64(each) {
						if v, found, err := all[0].Get(ctx, p<<32|i); v != i || !found || err != nil {
							t.Fatalf("key %d of rank %d: %d, %v, %v", i, p, v, found, err)
						}
					}
				}
			})
		}
	}
}

// TestClosed loses the fabric: every operation says so, and none answers.
func TestClosed(t *testing.T) {
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			f, all := windows(t, 2)
			v, err := volume.New(f, volume.Options{Discipline: discipline, Layout: volume.Layout{Buckets: 1, Heap: 8}})
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			if _, err = v.At(ctx, all[0]); err != nil {
				t.Fatal(err)
			}
			w := all[1]
			if how == byOperations {
				w = far{w}
			}
			s, err := v.At(ctx, w)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			for _, d := range []deed{{}, {insert: true}} {
				if out, err := perform(ctx, s, d); err == nil || out != (outcome{}) {
					t.Errorf("%s, %s: %+v is %+v, %v after the end", discipline, how, d, out, err)
				}
			}
		}
	}
}
