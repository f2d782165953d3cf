package table

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// Ratios of a table in one process to what one would use instead, with the peers in
// turns beside ours in one run, by two goroutines:
//
//	go test ./apps/dht/table -run '^$' -bench Ratios -benchtime 1x
//
// A line has millions of operations per second of ours and of each peer, and ours/peer:
// medians of all turns. Targets that are missed are reported as such.
var (
	ratioTurns = flag.Int("ratios.turns", 7, "how often ours and the peers take turns; the median counts")
	ratioKeys  = flag.Int("ratios.keys", 1<<17, "how many keys there are")
)

const benchShards = volumesPerNode

// numbersMap is what all contenders can do.
type numbersMap interface {
	load(key uint64) uint64
	store(key, value uint64)
}

type oursMap struct{ t *Numbers }

func (m oursMap) load(key uint64) uint64 {
	v, _, _ := m.t.Get(background, key)
	return v
}

func (m oursMap) store(key, value uint64) { _, _ = m.t.Insert(background, key, value) }

// shardedMap is Go maps under locks of their own.
type shardedMap []shard

type shard struct {
	sync.RWMutex
	m map[uint64]uint64
	_ [96]byte
}

func newShardedMap() shardedMap {
	m := make(shardedMap, benchShards)
	for i := range m {
		m[i].m = make(map[uint64]uint64)
	}
	return m
}

func (m shardedMap) of(key uint64) *shard { return &m[volumeOf(volume.Mix(key), len(m))] }

func (m shardedMap) load(key uint64) uint64 {
	s := m.of(key)
	s.RLock()
	v := s.m[key]
	s.RUnlock()
	return v
}

func (m shardedMap) store(key, value uint64) {
	s := m.of(key)
	s.Lock()
	s.m[key] = value
	s.Unlock()
}

type xsyncMap struct{ m *xsync.Map[uint64, uint64] }

func (m xsyncMap) load(key uint64) uint64 {
	v, _ := m.m.Load(key)
	return v
}

func (m xsyncMap) store(key, value uint64) { m.m.Store(key, value) }

var contenders = []struct {
	name string
	make func() numbersMap
	goal float64
}{
	{"ours", func() numbersMap {
		t, err := NewNumbers(background, NumbersOptions{})
		if err != nil {
			panic(err)
		}
		return oursMap{t}
	}, 0},
	{"sharded", func() numbersMap { return newShardedMap() }, 1},
	{"xsync", func() numbersMap { return xsyncMap{xsync.NewMap[uint64, uint64]()} }, 0.7},
}

// BenchmarkRatios is lookups, inserts into a table that grows, and lookups among which
// are some writes.
func BenchmarkRatios(b *testing.B) {
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("load before: %s", load)
	}
	keys := make([]uint64, *ratioKeys)
	for i := range keys {
		keys[i] = volume.Mix(uint64(i) + 1<<40)
	}
	for _, c := range []struct {
		name  string
		least float64 // millions per second
		full  bool    // before it begins
		do    func(m numbersMap, i int, key uint64)
	}{
		{"lookup", 5, true, func(m numbersMap, _ int, key uint64) { m.load(key) }},
		{"insert", 2, false, func(m numbersMap, _ int, key uint64) { m.store(key, key) }},
		{"lookup, 5 % updates", 0, true, func(m numbersMap, i int, key uint64) {
			if i%20 == 0 {
				m.store(key, key)
			} else {
				m.load(key)
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			rates := make([][]float64, len(contenders))
			ratios := make([][]float64, len(contenders))
			for b.Loop() {
				for range *ratioTurns {
					for i, who := range contenders {
						m := who.make()
						if c.full {
							for _, key := range keys {
								m.store(key, key)
							}
						}
						rates[i] = append(rates[i], rate(m, keys, c.full, c.do))
					}
					for i := range contenders {
						n := len(rates[i]) - 1
						ratios[i] = append(ratios[i], rates[0][n]/rates[i][n])
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, who := range contenders {
				b.ReportMetric(median(rates[i]), who.name+"-M/s")
				if i > 0 {
					b.ReportMetric(median(ratios[i]), "ours/"+who.name)
					if median(ratios[i]) < who.goal {
						b.ReportMetric(1, "missed-"+who.name)
					}
				}
			}
			if median(rates[0]) < c.least {
				b.ReportMetric(1, "missed")
			}
		})
	}
}

// rate is millions of operations per second by two goroutines, each with half of the
// keys, several times if they are all there.
func rate(m numbersMap, keys []uint64, again bool, do func(m numbersMap, i int, key uint64)) float64 {
	runtime.GC()
	rounds := 1
	if again {
		rounds = 1 + 1<<20/len(keys)
	}
	var all sync.WaitGroup
	began := time.Now()
	for g := range 2 {
		all.Go(func() {
			half := keys[g*len(keys)/2 : (g+1)*len(keys)/2]
			for range rounds {
				for i, key := range half {
					do(m, i, key)
				}
			}
		})
	}
	all.Wait()
	return float64(rounds*len(keys)) / float64(time.Since(began).Microseconds())
}

func median(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}
