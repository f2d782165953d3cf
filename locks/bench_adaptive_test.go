package locks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// BenchmarkChangingMix compares RMA-RW-A with fixed settings of RMA-RW on memory, where the share
// of writers changes in phases. It reports the throughput of RMA-RW-A, of the best fixed setting's.
//
//	go test ./locks -run '^$' -bench ChangingMix -benchtime 3x
func BenchmarkChangingMix(b *testing.B) {
	settings := []struct {
		lock string
		tdc  func(ranks int) int
	}{
		{"RMA-RW-A", func(int) int { return 1 }},
		{"RMA-RW", func(int) int { return 1 }},
		{"RMA-RW", func(ranks int) int { return (ranks + 1) / 2 }},
		{"RMA-RW", func(ranks int) int { return ranks }},
	}
	for _, ranks := range []int{2, 4, 8} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			least := make([]time.Duration, len(settings))
			for range b.N {
				for i, s := range settings {
					took := mixOnMem(b, s.lock, ranks, locks.Options{TDC: s.tdc(ranks)})
					if least[i] == 0 || took < least[i] {
						least[i] = took
					}
				}
			}
			best := least[1]
			for i, d := range least[1:] {
				best = min(best, d)
				b.ReportMetric(least[0].Seconds()/d.Seconds(), fmt.Sprintf("fixed-T_DC=%d/adaptive", settings[i+1].tdc(ranks)))
			}
			b.ReportMetric(best.Seconds()/least[0].Seconds(), "adaptive/best")
		})
	}
}

// mixOnMem is the time that goroutines take for the phases of changingMix.
func mixOnMem(b *testing.B, lock string, ranks int, o locks.Options) time.Duration {
	b.Helper()
	const turns = 100_000
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks)})
	must(err)
	defer f.Close()
	spec, _ := locks.ByName(lock)
	l, err := spec.New(f, o)
	must(err)
	var all sync.WaitGroup
	begin := time.Now()
	for p := range ranks {
		w, err := f.Window(locks.Rank(p))
		must(err)
		m, mix := l.At(w).(locks.RWMutex), rand.New(rand.NewPCG(7, uint64(p)))
		all.Go(func() {
			for _, writers := range changingMix {
				for range turns / ranks {
					if mix.IntN(1000) < writers {
						must(m.Acquire(context.Background()))
						m.Release()
					} else {
						must(m.AcquireRead(context.Background()))
						m.ReleaseRead()
					}
				}
			}
		})
	}
	all.Wait()
	return time.Since(begin)
}
