package volume_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/locks"
)

// Ratios of one volume in the memory of one process and of maps for goroutines,
// the peer in turns beside ours in one run:
//
//	go test ./apps/dht/volume -run '^$' -bench Ratios -benchtime 1x
//
// prints tables. Two goroutines look up and insert random keys; a map of Go in
// 256 parts, each under its own sync.RWMutex, is what the others are compared with.
// A volume has one lock for all, where a table of many volumes has as many.
var (
	ratioTurns    = flag.Int("ratios.turns", 7, "how often ours and the peers take turns; the median counts")
	ratioElements = flag.Int("ratios.elements", 1<<17, "how many elements each goroutine inserts, and looks up as often")
)

const ratioGoroutines = 2

// A store is one goroutine's side of something that is filled and asked.
type store struct {
	insert func(keys []uint64)
	look   func(keys []uint64)
}

// contender makes an empty one with room for n, for all goroutines.
type contender struct {
	name string
	make func(b *testing.B, n int) []store
}

func BenchmarkRatios(b *testing.B) {
	for b.Loop() {
		ratios(b)
	}
	b.ReportMetric(0, "ns/op") // of all together: says nothing
}

func ratios(b *testing.B) {
	all := []contender{
		{"sharded map", shardedMap}, {"xsync.Map", xsyncMap},
		{"RMA-RW", volumeOf("RMA-RW", 1)}, {"RMA-RW, batches of 64", volumeOf("RMA-RW", 64)},
		{"foMPI-RW", volumeOf("foMPI-RW", 1)}, {volume.AtomicsOnly, volumeOf(volume.AtomicsOnly, 1)},
	}
	n := *ratioElements
	inserts, lookups := make([][]float64, len(all)), make([][]float64, len(all))
	for turn := range *ratioTurns {
		for i := range all {
			i = (i + turn) % len(all) // so that no rank always follows the same one
			keys := make([][]uint64, ratioGoroutines)
			for g := range keys {
				for k := range n {
					keys[g] = append(keys[g], volume.Mix(uint64(turn)<<48|uint64(g)<<40|uint64(k)))
				}
			}
			stores := all[i].make(b, n*ratioGoroutines)
			inserts[i] = append(inserts[i], race(stores, func(g int, s store) { s.insert(keys[g]) }))
			for g := range keys { // in another order, and what the other one has inserted
				keys[g] = slices.Clone(keys[g])
				for k := range keys[g] {
					j := int(volume.Mix(uint64(k)) % uint64(n))
					keys[g][k], keys[g][j] = keys[g][j], keys[g][k]
				}
			}
			slices.Reverse(keys)
			lookups[i] = append(lookups[i], race(stores, func(g int, s store) { s.look(keys[g]) }))
		}
	}
	for _, what := range []struct {
		name  string
		rates [][]float64
	}{{"inserts", inserts}, {"lookups", lookups}} {
		rates := what.rates
		fmt.Printf("\n\n| %s, %d goroutines | M/s | of the sharded map |\n|---|---|---|\n", what.name, ratioGoroutines)
		for i, c := range all {
			of := make([]float64, len(rates[i]))
			for turn := range of {
				of[turn] = rates[i][turn] / rates[0][turn]
			}
			fmt.Printf("| %s | %.2f | %.2f |\n", c.name, middle(rates[i])/1e6, middle(of))
		}
	}
}

// race lets goroutines work at once, each with its keys, and returns how many keys
// they have gone through per second.
func race(stores []store, work func(g int, s store)) float64 {
	var ready, all sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(len(stores))
	for g, s := range stores {
		all.Go(func() {
			ready.Done()
			<-begin
			work(g, s)
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	all.Wait()
	return float64(len(stores)**ratioElements) / time.Since(start).Seconds()
}

func middle(values []float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func volumeOf(discipline string, batch int) func(b *testing.B, n int) []store {
	return func(b *testing.B, n int) []store {
		o := volume.Options{Discipline: discipline, Layout: volume.Layout{Buckets: n, Heap: n}}
		if discipline == "RMA-RW" {
			o.Lock = locks.Options{TDC: 1} // a counter of readers for each
		}
		var stores []store
		for _, s := range sides(b, ratioGoroutines, directly, o) {
			stores = append(stores, storeOf(s, batch))
		}
		return stores
	}
}

func storeOf(s volume.Side, batch int) store {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	if batch == 1 {
		return store{
			func(keys []uint64) {
				for _, k := range keys {
					_, err := s.Insert(ctx, k, k)
					check(err)
				}
			},
			func(keys []uint64) {
				for _, k := range keys {
					if v, found, _ := s.Get(ctx, k); !found || v != k {
						panic("an element is lost")
					}
				}
			},
		}
	}
	ops := make([]volume.Op, batch)
	do := func(kind volume.Kind) func(keys []uint64) {
		return func(keys []uint64) {
			for part := range slices.Chunk(keys, batch) {
				for i, k := range part {
					ops[i] = volume.Op{Kind: kind, Key: k, Value: k}
				}
				check(s.Do(ctx, ops[:len(part)]))
			}
		}
	}
	return store{do(volume.Insert), do(volume.Get)}
}

func shardedMap(_ *testing.B, n int) []store {
	const parts = 256
	type part struct {
		sync.RWMutex
		m map[uint64]uint64
		_ [64]byte
	}
	all := make([]part, parts)
	for i := range all {
		all[i].m = make(map[uint64]uint64, n/parts)
	}
	return slices.Repeat([]store{{
		func(keys []uint64) {
			for _, k := range keys {
				p := &all[k%parts]
				p.Lock()
				if _, found := p.m[k]; !found {
					p.m[k] = k
				}
				p.Unlock()
			}
		},
		func(keys []uint64) {
			for _, k := range keys {
				p := &all[k%parts]
				p.RLock()
				v, found := p.m[k]
				p.RUnlock()
				if !found || v != k {
					panic("an element is lost")
				}
			}
		},
	}}, ratioGoroutines)
}

func xsyncMap(_ *testing.B, n int) []store {
	m := xsync.NewMap[uint64, uint64](xsync.WithPresize(n))
	return slices.Repeat([]store{{
		func(keys []uint64) {
			for _, k := range keys {
				m.LoadOrStore(k, k)
			}
		},
		func(keys []uint64) {
			for _, k := range keys {
				if v, found := m.Load(k); !found || v != k {
					panic("an element is lost")
				}
			}
		},
	}}, ratioGoroutines)
}
