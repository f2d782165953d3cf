package locks_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// BenchmarkRatios compares our locks with their peers: what programs use instead. Both
// take turns in one run.
//
//	go test ./locks -run '^$' -bench Ratios -benchtime 1x
//
// prints tables for docs/measured. For a part of them, run Ratios/Uncontended,
// Ratios/FIFO, Ratios/ReaderWriter, Ratios/Processes or Ratios/Survivors. Absolute figures depend on the
// machine and the moment. Most targets are ratios.
var (
	ratioTurns = flag.Int("ratios.turns", 7, "how many turns ours and the peer take; the median counts")
	ratioTurn  = flag.Duration("ratios.turn", 200*time.Millisecond, "length of a turn in which goroutines or processes compete; five times as long with two goroutines")
	ratioLocks = flag.String("ratios.locks", "", "measure only locks whose names are in this list, separated by commas")
	ratioTDC   = flag.Int("ratios.tdc", 0, "T_DC of RMA-RW: how many goroutines share a counter of readers; 0 fits it to the share of writers")
)

func BenchmarkRatios(b *testing.B) {
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("\nload before: %s", load) // if other programs run, our goroutines seldom compete
	}
	b.Run("Uncontended", table(uncontended))
	b.Run("FIFO", table(fifo))
	b.Run("ReaderWriter", table(readerWriter))
	b.Run("Processes", table(processes))
	b.Run("Survivors", table(survivorsTable))
}

// report is a table that is being filled.
type report struct {
	*testing.B
	missed []string
}

// table is a benchmark that prints a table.
func table(fill func(r *report)) func(b *testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			r := &report{B: b}
			fmt.Printf("\n\n| what | ours | peer | ratio | target | reached |\n|---|---|---|---|---|---|\n")
			fill(r)
			fmt.Printf("\n%d targets missed%s\n\n", len(r.missed), strings.Join(append([]string{""}, r.missed...), "\n- "))
			b.ReportMetric(float64(len(r.missed)), "missed")
		}
		b.ReportMetric(0, "ns/op") // the time of all rows together means nothing
	}
}

// row prints a row. An empty target means that there is none.
func (r *report) row(what, ours, peer, ratio, target string, reached bool) {
	verdict := "yes"
	switch {
	case target == "":
		target, verdict = "–", "–"
	case !reached:
		verdict = "**no**"
		r.missed = append(r.missed, what+": "+ratio+" "+ours)
	}
	fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", what, ours, peer, ratio, target, verdict)
}

// selected reports whether to measure a lock.
func selected(name string) bool {
	return *ratioLocks == "" || slices.Contains(strings.Split(*ratioLocks, ","), name)
}

// figure is the result of one turn.
type figure struct {
	value  float64 // ns, or sections per second
	spread float64 // coefficient of variation between the competitors
}

// measured has a contender's medians over all turns, and the median of its ratio to the
// first contender in the same turn.
type measured struct {
	figure
	ratio float64
}

// inTurns lets contenders take turns. If the machine changes its speed, it changes it for
// all of them. The ratios of all contenders are to the first one.
func inTurns(turns int, contenders ...func() figure) []measured {
	all := make([][]measured, len(contenders))
	for turn := range turns {
		now := make([]figure, len(contenders))
		for i := range contenders {
			i = (i + turn) % len(contenders) // so that no contender always follows the same one
			now[i] = contenders[i]()
		}
		for i, f := range now {
			all[i] = append(all[i], measured{f, f.value / now[0].value})
		}
	}
	results := make([]measured, len(contenders))
	for i, of := range all {
		results[i] = measured{
			figure{median(of, func(m measured) float64 { return m.value }), median(of, func(m measured) float64 { return m.spread })},
			median(of, func(m measured) float64 { return m.ratio }),
		}
	}
	return results
}

func median(of []measured, part func(measured) float64) float64 {
	values := make([]float64, len(of))
	for i, m := range of {
		values[i] = part(m)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// spread is the coefficient of variation with Bessel's correction.
func spread(counts []float64) float64 {
	n, sum, squares := float64(len(counts)), 0.0, 0.0
	for _, c := range counts {
		sum += c
	}
	for _, c := range counts {
		squares += (c - sum/n) * (c - sum/n)
	}
	return math.Sqrt(squares/(n-1)) / (sum / n)
}

// The stages of a turn in which goroutines or processes compete.
const (
	warming = iota
	counting
	over
)

// A loop is the loop of a goroutine in a turn. It repeats something until stage is over,
// and returns the number of repetitions while stage was counting.
type loop func(stage *atomic.Uint64) uint64

// contend lets each goroutine repeat its function until the turn is over.
func contend(do []func(), long time.Duration) figure {
	loops := make([]loop, len(do))
	for g, once := range do {
		loops[g] = func(stage *atomic.Uint64) (n uint64) {
			for s := stage.Load(); s != over; s = stage.Load() {
				once()
				n += s
			}
			return n
		}
	}
	return compete(loops, long)
}

// compete lets goroutines run their loops for a turn. The turn begins when all of them run.
func compete(loops []loop, long time.Duration) figure {
	var stage atomic.Uint64
	var here, all sync.WaitGroup
	here.Add(len(loops))
	counts := make([]float64, len(loops))
	for g, run := range loops {
		all.Go(func() {
			here.Done()
			counts[g] = float64(run(&stage))
		})
	}
	here.Wait()
	took := turn(&stage, long)
	all.Wait()
	return perSecond(counts, took)
}

// turn sets the stages of a turn, one after the other. It returns how long the stage
// counting has lasted.
func turn(stage *atomic.Uint64, long time.Duration) time.Duration {
	<-time.After(*ratioTurn / 5)
	begin := time.Now()
	stage.Store(counting)
	<-time.After(long)
	took := time.Since(begin)
	stage.Store(over)
	return took
}

func perSecond(counts []float64, took time.Duration) figure {
	sum := 0.0
	for _, n := range counts {
		sum += n
	}
	return figure{sum / took.Seconds(), spread(counts)}
}

// fresh makes a lock on a new fabric and returns the sides of all ranks.
func fresh(tb testing.TB, name, machine string, o locks.Options) []locks.Mutex {
	l, f := onMem(tb, name, machine, o)
	sides := make([]locks.Mutex, f.Topology().Ranks())
	for p := range sides {
		w, err := f.Window(locks.Rank(p))
		if err != nil {
			tb.Fatal(err)
		}
		sides[p] = l.At(w)
	}
	return sides
}

// cannotFail is the panic value of a benchmark that must not call must, because the call
// would cost time in the measured loop.
const cannotFail = "an acquisition failed that cannot fail"

// must is for acquisitions that cannot fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func ns(v float64) string        { return fmt.Sprintf("%.1f ns", v) }
func million(f figure) string    { return fmt.Sprintf("%.2f M/s, cv %.3f", f.value/1e6, f.spread) }
func times(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }

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

//lint:file-ignore SA2001 sections are empty so that nothing but the lock is measured

// uncontended measures acquire and release by one goroutine, again and again.
func uncontended(r *report) {
	for _, spec := range locks.All() {
		if !selected(spec.Name) {
			continue
		}
		machine, most := uncontendedTarget(spec)
		m := fresh(r.B, spec.Name, machine, locks.Options{})[0]
		r.hot(spec.Name+" on "+machine, most, "sync.Mutex", mutexHot(), func(n int) {
			ctx := context.Background()
			for range n {
				must(m.Acquire(ctx))
				m.Release()
			}
		})
		if rw, ok := m.(locks.RWMutex); ok {
			most := 0.0
			if spec.Name == "RMA-RW" {
				most = 2
			}
			r.hot(spec.Name+" reader on "+machine, most, "sync.RWMutex reader", readerHot(), func(n int) {
				ctx := context.Background()
				for range n {
					must(rw.AcquireRead(ctx))
					rw.ReleaseRead()
				}
			})
		}
	}
}

// uncontendedTarget is the machine on which a lock is measured, and the target: the
// largest ratio to a sync.Mutex, or zero for no target.
func uncontendedTarget(spec locks.Spec) (machine string, most float64) {
	const flat, twoLevels = "core:4", "node:2 core:2"
	switch {
	case spec.Name == "D-MCS":
		return flat, 5
	case spec.Name == "RMA-MCS":
		return twoLevels, 12
	case spec.Name == "HMCS":
		return twoLevels, 4
	case strings.HasPrefix(spec.Name, "C-"):
		return twoLevels, 3.5
	case spec.Kind == locks.ReaderWriter:
		return twoLevels, 0
	case slices.Contains([]string{"MCS", "CLH", "HEM", "TKT"}, spec.Name):
		return flat, 2
	}
	return flat, 0
}

func mutexHot() func(n int) {
	var m sync.Mutex
	return func(n int) {
		for range n {
			m.Lock()
			m.Unlock()
		}
	}
}

func readerHot() func(n int) {
	var m sync.RWMutex
	return func(n int) {
		for range n {
			m.RLock()
			m.RUnlock()
		}
	}
}

// hot compares the time of one repetition of do with one of peerDo.
func (r *report) hot(what string, most float64, peer string, peerDo, do func(n int)) {
	const n = 100_000
	once := func(do func(n int)) func() figure {
		return func() figure {
			begin := time.Now()
			do(n)
			return figure{value: float64(time.Since(begin).Nanoseconds()) / n}
		}
	}
	m := inTurns(3*(*ratioTurns), once(peerDo), once(do))
	target := ""
	if most > 0 {
		target = fmt.Sprintf("≤ %g", most)
	}
	r.row(what, ns(m[1].value), peer+" "+ns(m[0].value), times(m[1].ratio), target, m[1].ratio <= most)
}
