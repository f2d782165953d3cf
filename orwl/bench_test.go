package orwl_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// Ratios of resources, handles and tasks to their usual replacements, or to a floor,
// with the peer in turns beside ours in one run:
//
//	go test ./resource ./handle ./orwl -run '^$' -bench Ratios -benchtime 1x
//
// A line has a time of ours and of each peer, and ours/peer, their ratio: medians of
// all turns. target is the most that any ratio of the line may be, or the one figure
// that the line is about. A line that misses it says so. Ratios/Free and so on are
// parts.
//
// All ratios are here, also for the packages below, so that they are measured and
// reported in one way, and a hand-over of handles stands beside one of tasks.
var (
	ratioTurns = flag.Int("ratios.turns", 7, "how often ours and the peers take turns; the median counts")
	ratioTurn  = flag.Duration("ratios.turn", 50*time.Millisecond, "about how long a turn lasts")
)

func BenchmarkRatios(b *testing.B) {
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("load before: %s", load) // beside other programs goroutines seldom meet
	}
	b.Run("Free", free)
	b.Run("Off", off)
	b.Run("HandOver", handOver)
	b.Run("Crowd", crowd)
	b.Run("Ring", ringRatios)
	b.Run("StepMemory", stepMemory)
	b.Run("Bytes", bytesEach)
	b.Run("Start", start)
}

// A match is one line: ours against peers.
type match struct {
	name   string
	target float64 // the most that a ratio may be; 0 is none
	ours   contender
	peers  []contender
}

// contender is one that takes turns.
type contender struct {
	name string
	turn func() figure
}

// figure is the result of a turn.
type figure struct {
	ns     float64 // the time that something takes
	allocs float64 // the allocations that it makes
	spread float64 // coefficient of variation of what competitors got
	ratio  float64 // the ratio of our figure in the same turn to this one
}

func (f figure) report(b *testing.B, name string) {
	b.ReportMetric(f.ns, name+"-ns")
	if f.spread > 0 {
		b.ReportMetric(f.spread, name+"-cv")
	}
}

// run lets all contenders take turns, so that a machine that changes its speed changes
// it for all, and reports the medians. tell may add to the report of ours. run returns the
// medians, of ours first. They are nil if the line is not asked for.
func (m match) run(b *testing.B, tell func(b *testing.B, ours figure)) (all []figure) {
	b.Run(m.name, func(b *testing.B) {
		for b.Loop() {
			all = m.inTurns()
			ours, worst := all[0], 0.0
			ours.report(b, m.ours.name)
			for i, peer := range m.peers {
				its := all[i+1]
				its.report(b, peer.name)
				b.ReportMetric(its.ratio, m.ours.name+"/"+peer.name)
				worst = max(worst, its.ratio)
			}
			if m.target > 0 {
				most(b, worst, m.target)
			}
			if tell != nil {
				tell(b, ours)
			}
		}
		b.ReportMetric(0, "ns/op") // of all together: says nothing
	})
	return all
}

// inTurns is the medians of ours and of each peer.
func (m match) inTurns() []figure {
	all := append([]contender{m.ours}, m.peers...)
	turns := make([][]figure, len(all))
	for turn := range *ratioTurns {
		now := make([]figure, len(all))
		for i := range all {
			i = (i + turn) % len(all) // so that the order of the contenders changes
			now[i] = all[i].turn()
		}
		for i, f := range now {
			f.ratio = now[0].ns / f.ns
			turns[i] = append(turns[i], f)
		}
	}
	results := make([]figure, len(all))
	for i, of := range turns {
		results[i] = medians(of)
	}
	return results
}

// most reports a target, and whether it is missed.
func most(b *testing.B, value, target float64) {
	b.ReportMetric(target, "target")
	if value > target {
		b.ReportMetric(1, "missed")
	}
}

// noAllocations ends the benchmark if ours allocates. A goroutine more or less does
// not count among many thousand rounds.
func noAllocations(b *testing.B, ours figure) {
	b.ReportMetric(ours.allocs, "allocs")
	if ours.allocs > 0.01 {
		b.Fatalf("%.3f allocations each time, want none", ours.allocs)
	}
}

// medians takes the median of each part of the figures.
func medians(of []figure) figure {
	part := func(value func(figure) float64) float64 {
		values := make([]float64, len(of))
		for i, f := range of {
			values[i] = value(f)
		}
		slices.Sort(values)
		return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	}
	return figure{
		ns:     part(func(f figure) float64 { return f.ns }),
		allocs: part(func(f figure) float64 { return f.allocs }),
		spread: part(func(f figure) float64 { return f.spread }),
		ratio:  part(func(f figure) float64 { return f.ratio }),
	}
}

// often is a contender that calls do so often that it takes a turn. It finds the number
// of calls at its first turn, which also warms it up. The allocations of ten calls
// count as its start-up.
func often(name string, do func(n int)) contender {
	n, begins := 0, 0.0
	allocates := func(n int) float64 {
		before := allocations()
		do(n)
		return float64(allocations() - before)
	}
	return contender{name, func() figure {
		if n == 0 {
			n = fitting(do)
			begins = allocates(10)
		}
		begin := time.Now()
		allocs := allocates(n)
		took := time.Since(begin)
		return figure{
			ns:     float64(took.Nanoseconds()) / float64(n),
			allocs: max(0, allocs-begins) / float64(n),
		}
	}}
}

// fitting is how many calls fit in a turn.
func fitting(do func(n int)) int {
	for n := 100; ; n *= 2 {
		begin := time.Now()
		do(n)
		if took := time.Since(begin); took > *ratioTurn/4 {
			return max(n, int(float64(n)*float64(*ratioTurn)/float64(took)))
		}
	}
}

func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
