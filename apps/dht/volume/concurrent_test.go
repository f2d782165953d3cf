package volume_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// TestLinearizable lets goroutines loose on few keys, with words reached either
// way, and looks whether what they saw fits together.
func TestLinearizable(t *testing.T) {
	const ranks, deeds, keys = 4, 60, 3
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			t.Run(discipline+"/"+how, func(t *testing.T) {
				for round := range uint64(10) {
					all := sides(t, ranks, how, volume.Options{Discipline: discipline,
						Layout: volume.Layout{Buckets: 1 + int(round%3), Heap: keys + ranks}})
					c := new(clerk)
					together(t, all, func(p int, s volume.Side) error {
						rng := rand.New(rand.NewPCG(round, uint64(p)))
						for range deeds {
							if err := c.do(context.Background(), p, s, draw(rng, keys)); err != nil {
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
				seen := map[uint64]bool{}
				if err := all[0].Each(ctx, func(k, _ uint64) bool { seen[k] = true; return true }); err != nil {
					t.Fatal(err)
				}
				if n, err := all[1].Len(ctx); n != ranks*each || len(seen) != n {
					t.Errorf("%d elements, %d counted (%v), want %d", len(seen), n, err, ranks*each)
				}
			})
		}
	}
}

// TestGivenBack lets goroutines insert the same keys at once, into a volume that has just
// enough cells. A cell that a goroutine drew without need is not lost, and in the end every key
// is in.
func TestGivenBack(t *testing.T) {
	const ranks, keys = 4, 50
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			t.Run(discipline+"/"+how, func(t *testing.T) {
				ctx := context.Background()
				for range 10 {
					all := sides(t, ranks, how, volume.Options{Discipline: discipline, Layout: volume.Layout{Buckets: 1, Heap: keys - 1}})
					insert := func(s volume.Side) error {
						var last error
						for k := range uint64(keys) {
							if _, err := s.Insert(ctx, k, k); err != nil {
								last = err
							}
						}
						return last
					}
					together(t, all, func(_ int, s volume.Side) error {
						if err := insert(s); !errors.Is(err, volume.ErrFull) {
							return err
						}
						return nil
					})
					if err := insert(all[0]); err != nil {
						t.Fatal(err)
					}
					want := map[uint64]uint64{}
					for k := range uint64(keys) {
						want[k] = k
					}
					checkAll(t, all[1], want)
				}
			})
		}
	}
}

// TestSnapshotIsConsistent moves an amount between two keys in batches while
// others take snapshots: the sum never changes.
func TestSnapshotIsConsistent(t *testing.T) {
	const total = 100
	for _, how := range ways {
		all := sides(t, 3, how, volume.Options{Growable: true, Layout: volume.Layout{Buckets: 1, Heap: 2}})
		ctx := context.Background()
		if _, err := all[0].Set(ctx, 1, total); err != nil {
			t.Fatal(err)
		}
		together(t, all, func(p int, s volume.Side) error {
			for i := range uint64(100) {
				if p == 2 {
					ops := []volume.Op{{Kind: volume.Add, Key: 1, Value: -i}, {Kind: volume.Add, Key: 2, Value: i}}
					if err := s.Do(ctx, ops); err != nil {
						return err
					}
					continue
				}
				elements, err := s.Snapshot(ctx)
				sum := uint64(0)
				for _, e := range elements {
					sum += e.Value
				}
				if err != nil || sum != total {
					t.Errorf("a snapshot sums up to %d, %v: %v", sum, err, elements)
				}
			}
			return nil
		})
	}
}

// TestResizeWhileUsed lets the owner resize again and again while others insert
// and look up: nothing is lost.
func TestResizeWhileUsed(t *testing.T) {
	const ranks, each = 3, 100
	for _, how := range ways {
		t.Run(how, func(t *testing.T) {
			ctx := context.Background()
			all := sides(t, ranks, how, volume.Options{Growable: true, Layout: volume.Layout{Buckets: 1, Heap: ranks * each}})
			together(t, all, func(p int, s volume.Side) error {
				for i := range uint64(each) {
					if p == 0 {
						if err := s.Resize(ctx, 1+int(i), ranks*each); err != nil {
							return err
						}
						continue
					}
					k := uint64(p)<<32 | i
					if _, err := s.Insert(ctx, k, i); err != nil {
						return err
					}
					if v, found, err := s.Get(ctx, k); err != nil || !found || v != i {
						t.Errorf("Get(%d) is %d, %v, %v", k, v, found, err)
					}
				}
				return nil
			})
			if n, err := all[0].Len(ctx); err != nil || n != (ranks-1)*each {
				t.Errorf("%d elements, %v", n, err)
			}
		})
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
			for kind := volume.Get; kind <= volume.CompareAndSet; kind++ {
				if out, err := perform(ctx, s, deed{kind: kind}); err == nil || out != (outcome{}) {
					t.Errorf("%s, %s: kind %d is %+v, %v after the end", discipline, how, kind, out, err)
				}
			}
			_, length := s.Len(ctx)
			_, snapshot := s.Snapshot(ctx)
			for i, err := range []error{
				length, snapshot, s.InsertNew(ctx, 1, 1), s.Clear(ctx),
				s.Do(ctx, []volume.Op{{Kind: volume.Set}}), s.Each(ctx, func(k, v uint64) bool { t.Error(k, v); return true }),
			} {
				if err == nil {
					t.Errorf("%s, %s: operation %d succeeds after the end", discipline, how, i)
				}
			}
		}
	}
}
