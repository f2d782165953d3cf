package orwl_test

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

//lint:file-ignore SA2001 sections are empty so that nothing but the lock is measured

// Locks for goroutines, made as users make them, beside what users have now:
//
//	go test ./orwl -run '^$' -bench Lockers -benchtime 1x
//
// prints tables for docs/measured: the rate of each lock, its ratio to a channel of
// capacity 1 as a mutex, its ratio to sync.Mutex or sync.RWMutex, and the coefficient
// of variation of what the goroutines got. All contenders take turns; a figure is the
// median of the turns. Lockers/Mutex, Lockers/RWMutex and Lockers/Uncontended are parts.
var (
	lockerNames      = flag.String("lockers.names", "MCS,C-MCS-HEM", "the locks to measure, separated by commas")
	lockerGoroutines = flag.String("lockers.goroutines", "2,8,32,256", "how many goroutines compete, separated by commas")
)

func BenchmarkLockers(b *testing.B) {
	b.Run("Uncontended", lockersUncontended)
	b.Run("Mutex", lockersMutex)
	b.Run("RWMutex", lockersRWMutex)
}

// The targets of a Locker.
const (
	leastOfChannel = 1.0
	leastOfMutex   = 0.5
	mostOfMutex    = 3.0 // of the time that sync.Mutex takes, without contention
)

// lockersMutex has all combinations of how many goroutines compete, how long a section
// takes, and how long the goroutine works outside.
func lockersMutex(b *testing.B) {
	perMicrosecond := workPerMicrosecond()
	work := func(d time.Duration) int { return int(d.Seconds() * 1e6 * perMicrosecond) }
	for b.Loop() {
		fmt.Printf("\n\n| lock | goroutines | section | outside | M/s | of channel | of sync.Mutex | cv | cv channel | cv sync.Mutex | reached |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
		missed := 0
		for _, n := range goroutineCounts(b) {
			for _, section := range []time.Duration{50 * time.Nanosecond, time.Microsecond} {
				for _, outside := range []time.Duration{0, time.Microsecond, 10 * time.Microsecond} {
					missed += lockersRow(b, n, work(section), work(outside), fmt.Sprintf("%d | %v | %v", n, section, outside))
				}
			}
		}
		b.ReportMetric(float64(missed), "missed")
	}
	b.ReportMetric(0, "ns/op") // of all together: says nothing
}

func lockersRow(b *testing.B, n, section, outside int, what string) (missed int) {
	names := strings.Split(*lockerNames, ",")
	contenders := []func() rate{
		func() rate { return crowdOf(n, channelWorkers(section, outside)) },
		func() rate { var mu sync.Mutex; return crowdOf(n, lockerWorkers(&mu, section, outside)) },
	}
	for _, name := range names {
		contenders = append(contenders, func() rate {
			mu, err := orwl.NewLocker(name)
			must(err)
			return crowdOf(n, lockerWorkers(mu, section, outside))
		})
	}
	all := ratesInTurns(contenders)
	for i, name := range names {
		ours, channel, mutex := all[i+2], all[0], all[1]
		ofChannel, ofMutex := ours.ratioTo(channel), ours.ratioTo(mutex)
		reached := "yes"
		if ofChannel < leastOfChannel || ofMutex < leastOfMutex {
			reached, missed = "**no**", missed+1
		}
		fmt.Printf("| %s | %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %s |\n",
			name, what, ours.median()/1e6, ofChannel, ofMutex, ours.spread(), channel.spread(), mutex.spread(), reached)
	}
	return missed
}

// The loops of the contenders are written out, because a function in between would be
// measured, too.

func channelWorkers(section, outside int) worker {
	c := make(chan struct{}, 1)
	return func(stage *atomic.Uint64) (n, x uint64) {
		for s := stage.Load(); s != over; s = stage.Load() {
			c <- struct{}{}
			x = workFor(section, x)
			<-c
			x = workFor(outside, x)
			n += s
		}
		return n, x
	}
}

func lockerWorkers[L sync.Locker](mu L, section, outside int) worker {
	return func(stage *atomic.Uint64) (n, x uint64) {
		for s := stage.Load(); s != over; s = stage.Load() {
			mu.Lock()
			x = workFor(section, x)
			mu.Unlock()
			x = workFor(outside, x)
			n += s
		}
		return n, x
	}
}

// lockersRWMutex has goroutines that read and now and then write, in empty sections.
func lockersRWMutex(b *testing.B) {
	least := map[float64]float64{0.2: 1, 2: 0.5, 20: 0.5}
	for b.Loop() {
		fmt.Printf("\n\n| lock | goroutines | writes | M/s | of sync.RWMutex | cv | cv sync.RWMutex | target | reached |\n|---|---|---|---|---|---|---|---|---|\n")
		missed := 0
		for _, percent := range []float64{0.2, 2, 20} {
			for _, n := range goroutineCounts(b) {
				all := ratesInTurns([]func() rate{
					func() rate { var mu sync.RWMutex; return crowdOf(n, rwWorkers(&mu, percent)) },
					func() rate {
						mu, err := orwl.NewRWLocker("RMA-RW")
						must(err)
						return crowdOf(n, rwWorkers(mu, percent))
					},
				})
				peer, ours := all[0], all[1]
				reached := "yes"
				if ours.ratioTo(peer) < least[percent] {
					reached, missed = "**no**", missed+1
				}
				fmt.Printf("| RMA-RW | %d | %g %% | %.2f | %.2f | %.2f | %.2f | %g | %s |\n",
					n, percent, ours.median()/1e6, ours.ratioTo(peer), ours.spread(), peer.spread(), least[percent], reached)
			}
		}
		b.ReportMetric(float64(missed), "missed")
	}
	b.ReportMetric(0, "ns/op")
}

type rwLock interface {
	sync.Locker
	RLock()
	RUnlock()
}

func rwWorkers[L rwLock](mu L, percent float64) worker {
	below := uint64(percent / 100 * (1 << 32))
	var seed atomic.Uint64
	return func(stage *atomic.Uint64) (n, x uint64) {
		x = seed.Add(0x9e3779b97f4a7c15)
		for s := stage.Load(); s != over; s = stage.Load() {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			if x>>32 < below {
				mu.Lock()
				mu.Unlock()
			} else {
				mu.RLock()
				mu.RUnlock()
			}
			n += s
		}
		return n, x
	}
}

// lockersUncontended has one goroutine that locks and unlocks.
func lockersUncontended(b *testing.B) {
	const n = 100_000
	hot := func(mu sync.Locker) func() rate {
		return func() rate {
			begin := time.Now()
			for range n {
				mu.Lock()
				mu.Unlock()
			}
			return rate{perSecond: n / time.Since(begin).Seconds()}
		}
	}
	for b.Loop() {
		fmt.Printf("\n\n| lock | ns | times the peer's | target |\n|---|---|---|---|\n")
		for _, name := range strings.Split(*lockerNames, ",") {
			mu, err := orwl.NewLocker(name)
			must(err)
			all := ratesInTurns([]func() rate{hot(new(sync.Mutex)), hot(mu)})
			fmt.Printf("| %s | %.1f | %.2f of sync.Mutex | ≤ %g |\n", name, 1e9/all[1].median(), 1/all[1].ratioTo(all[0]), mostOfMutex)
		}
		mu, err := orwl.NewRWLocker("RMA-RW")
		must(err)
		for _, c := range []struct {
			what       string
			ours, peer sync.Locker
		}{{"RMA-RW, reader", mu.RLocker(), new(sync.RWMutex).RLocker()}, {"RMA-RW, writer", mu, new(sync.RWMutex)}} {
			all := ratesInTurns([]func() rate{hot(c.peer), hot(c.ours)})
			fmt.Printf("| %s | %.1f | %.2f of sync.RWMutex | – |\n", c.what, 1e9/all[1].median(), 1/all[1].ratioTo(all[0]))
		}
	}
	b.ReportMetric(0, "ns/op")
}

func goroutineCounts(b *testing.B) (counts []int) {
	for text := range strings.SplitSeq(*lockerGoroutines, ",") {
		n := 0
		if _, err := fmt.Sscan(text, &n); err != nil || n < 2 {
			b.Fatalf("-lockers.goroutines: %q is not a number of goroutines, at least 2", text)
		}
		counts = append(counts, n)
	}
	return counts
}
