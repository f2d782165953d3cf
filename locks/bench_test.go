package locks_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/locks"
)

// Ratios of our locks and what others use instead, with the peer in turns beside
// ours in one run:
//
//	go test ./locks -run '^$' -bench Ratios -benchtime 1x
//
// prints tables for docs/measured.md. A part of them is Ratios/Uncontended,
// Ratios/FIFO, Ratios/ReaderWriter, Ratios/Processes. Absolute figures are of
// the machine and of the moment; the ratios are what has targets.
var (
	ratioTurns = flag.Int("ratios.turns", 7, "how often ours and the peer take turns; the median counts")
	ratioTurn  = flag.Duration("ratios.turn", 200*time.Millisecond, "how long a turn lasts in which goroutines or processes compete; with two goroutines, five times as long")
	ratioLocks = flag.String("ratios.locks", "", "measure only locks whose names are in this list, separated by commas")
	ratioTDC   = flag.Int("ratios.tdc", 0, "T_DC of RMA-RW: how many goroutines share a counter of readers; 0 is what suits the share of writers")
)

func BenchmarkRatios(b *testing.B) {
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("\nload before: %s", load) // beside other programs goroutines seldom meet
	}
	b.Run("Uncontended", table(uncontended))
	b.Run("FIFO", table(fifo))
	b.Run("ReaderWriter", table(readerWriter))
	b.Run("Processes", table(processes))
}

// report is a table under way.
type report struct {
	*testing.B
	missed []string
}

// table is a benchmark that prints one.
func table(fill func(r *report)) func(b *testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			r := &report{B: b}
			fmt.Printf("\n\n| what | ours | peer | ratio | target | reached |\n|---|---|---|---|---|---|\n")
			fill(r)
			fmt.Printf("\n%d targets missed%s\n\n", len(r.missed), strings.Join(append([]string{""}, r.missed...), "\n- "))
			b.ReportMetric(float64(len(r.missed)), "missed")
		}
		b.ReportMetric(0, "ns/op") // of all together: says nothing
	}
}

// row prints a line. A target "" is none.
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

// selected reports whether a lock is to be measured.
func selected(name string) bool {
	return *ratioLocks == "" || slices.Contains(strings.Split(*ratioLocks, ","), name)
}

// figure is what one turn measures.
type figure struct {
	value  float64 // ns, or sections per second
	spread float64 // coefficient of variation of what the competitors got
}

// measured is the medians of a contender over all turns, and of its ratio to the
// first one of the same turn.
type measured struct {
	figure
	ratio float64
}

// inTurns lets contenders take turns, so that a machine that changes its speed
// changes it for all. The first one is what the others are compared with.
func inTurns(turns int, contenders ...func() figure) []measured {
	all := make([][]measured, len(contenders))
	for turn := range turns {
		now := make([]figure, len(contenders))
		for i := range contenders {
			i = (i + turn) % len(contenders) // nobody always follows the same one
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

// The stages of a turn in which several compete.
const (
	warming = iota
	counting
	over
)

// A loop is what a goroutine does in a turn: something again and again until stage is over.
// It returns how often, while stage was counting.
type loop func(stage *atomic.Uint64) uint64

// contend lets goroutines do something again and again until the turn is over.
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

// compete lets goroutines run their loops for a turn. All have begun before it begins.
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

// turn goes through the stages of a turn, in which others work.
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

// fresh is a lock on a new fabric, with the handles of all its ranks.
func fresh(tb testing.TB, name, machine string, o locks.Options) []locks.Mutex {
	l, f := onMem(tb, name, machine, o)
	handles := make([]locks.Mutex, f.Topology().Ranks())
	for p := range handles {
		w, err := f.Window(locks.Rank(p))
		if err != nil {
			tb.Fatal(err)
		}
		handles[p] = l.At(w)
	}
	return handles
}

// cannotFail is what a benchmark panics with where a call of must would be a part of
// what it measures.
const cannotFail = "an acquisition that cannot fail has failed"

// must is for acquisitions that cannot fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func ns(v float64) string        { return fmt.Sprintf("%.1f ns", v) }
func million(f figure) string    { return fmt.Sprintf("%.2f M/s, cv %.3f", f.value/1e6, f.spread) }
func times(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }
