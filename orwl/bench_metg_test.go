package orwl_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// metgRatios measures the minimum effective task granularity, METG(50 %), of a stencil
// in one dimension: how long a task has to compute, with all that the runtime adds, so
// that half of the processors' time is spent on computing. It is the common measure of
// task runtimes (Task Bench, Slaughter et al., SC'20). Each of width tasks writes its
// cell and reads its two neighbours' cells, of this round or of the last. So neighbours take
// turns, and no more than half of the tasks run at a time. The clock runs from the start of
// the first task, as in Task Bench: declaring a program, its proof and its first requests
// happen once.
//
// Channels are goroutines that give each
// other the turn by a channel for each neighbour. Counts is the least that any runtime has to
// do: each processor owns a part of the tasks and spins over it. A task that has finished a
// round counts itself for its neighbours. It has no queue, no worker that sleeps, no
// cancellation and no stealing.
func metgRatios(b *testing.B) {
	goals := []struct {
		width int
		ns    float64
	}{{2, 3500}, {16, 400}, {256, 150}, {4096, 120}}
	rows := "METG(50 %), ns | steps | channels | counts | steps of counts | goal of steps\n"
	for _, goal := range goals {
		of := func(run stencil) func() figure { return func() figure { return metg(goal.width, run) } }
		all := match{
			fmt.Sprintf("METG/%d", goal.width), 0, contender{"steps", of(stepStencil)},
			[]contender{{"channels", of(channelStencil)}, {"counts", of(countStencil)}},
		}.run(b, func(b *testing.B, ours figure) { most(b, ours.ns, goal.ns) })
		if all != nil {
			rows += fmt.Sprintf("width %d | %.0f | %.0f | %.0f | %.1f | %.0f\n",
				goal.width, all[0].ns, all[1].ns, all[2].ns, all[2].ratio, goal.ns)
		}
	}
	fmt.Print(rows)
	if strings.Contains(rows, "Inf") {
		fmt.Println("+Inf: half of the processors' time was never spent on computing: measure again on a quiet machine")
	}
}

// stencil runs rounds of width tasks, and returns how long that took from the start of the first
// task. Each task calls work once a round, and keeps what it returns in its own cell.
type stencil func(width, rounds int, work func() uint64) time.Duration

// metg is the granularity at which a stencil reaches half of the speed that its tasks alone
// would have.
func metg(width int, run stencil) figure {
	return halfway(workPerNanosecond(), func(grain int, about float64) metgPoint {
		return measure(width, grain, about, run)
	})
}

// mostGrain ends a search that finds nothing: some milliseconds of work.
const mostGrain = 1 << 20

// halfway finds the granularity of efficiency 0.5. It lies between two points, and is
// interpolated. A point takes as long as a turn of the other ratios, so that the start does not
// count. The figure is +Inf if no task is large enough: other programs have the processors.
func halfway(perNs float64, measure func(grain int, about float64) metgPoint) figure {
	low := measure(0, 1000)
	high := measure(1+int(low.ns*perNs), 2*low.ns)
	for high.efficiency < 0.5 {
		if high.grain > mostGrain {
			return figure{ns: math.Inf(1)}
		}
		low, high = high, measure(2*high.grain, 2*high.ns)
	}
	for range 4 {
		if middle := measure((low.grain+high.grain)/2, high.ns); middle.efficiency >= 0.5 {
			high = middle
		} else {
			low = middle
		}
	}
	share := (0.5 - low.efficiency) / (high.efficiency - low.efficiency)
	return figure{ns: low.ns + share*(high.ns-low.ns)}
}

// metgPoint is what a stencil does with tasks of one size.
type metgPoint struct {
	grain      int     // steps of workFor in a task
	ns         float64 // time of a processor for each task
	efficiency float64 // share of it that was spent on work
}

// measure runs a stencil whose tasks take about so many ns.
func measure(width, grain int, about float64, run stencil) metgPoint {
	const fewest = 50
	processors := float64(parallel(width))
	rounds := max(fewest, int(float64(ratioTurn.Nanoseconds())*processors/(about*float64(width))))
	took := run(width, rounds, func() uint64 { return workFor(grain, 0) })
	ns := float64(took.Nanoseconds()) * processors / float64(width*rounds)
	return metgPoint{grain, ns, float64(grain) / workPerNanosecond() / ns}
}

// workPerNanosecond is the same for all points of a run.
var workPerNanosecond = sync.OnceValue(func() float64 { return workPerMicrosecond() / 1e3 })

// parallel is how many processors a stencil can use.
func parallel(width int) int { return min(runtime.GOMAXPROCS(0), max(1, width/2)) }

func stepStencil(width, rounds int, work func() uint64) time.Duration {
	var s stopwatch
	rt := newRuntime()
	cells := make([]*resource.Resource, width)
	for i := range cells {
		cells[i] = orwl.Array[uint64](rt, fmt.Sprint(i), 1)
	}
	for k := range cells {
		i := 2 * k // tasks with even numbers come first
		if i >= width {
			i += 1 - width - width%2
		}
		t := rt.Task(fmt.Sprint(i))
		own := orwl.Writes[uint64](t, cells[i])
		var beside []orwl.In[uint64]
		for _, j := range []int{i - 1, i + 1} {
			if 0 <= j && j < width {
				beside = append(beside, orwl.Reads[uint64](t, cells[j]))
			}
		}
		t.Each(rounds, func(round int) error {
			if round == 0 {
				s.start()
			}
			x := own.Slice()
			for _, in := range beside {
				x[0] += in.View().At(0)
			}
			x[0] += work()
			return nil
		})
	}
	must(rt.Run(context.Background()))
	return time.Since(s.begin)
}

// channelStencil is goroutines that wait for each other as the tasks of a stencil do.
func channelStencil(width, rounds int, work func() uint64) time.Duration {
	cells := make([]uint64, width)
	right, left := make([]chan struct{}, width-1), make([]chan struct{}, width-1) // from i to i+1, and back
	for i := range right {
		right[i], left[i] = make(chan struct{}, 1), make(chan struct{}, 1)
		if i%2 == 0 { // tasks with even numbers come first
			left[i] <- struct{}{}
		} else {
			right[i] <- struct{}{}
		}
	}
	var s stopwatch
	var all sync.WaitGroup
	for i := range width {
		all.Go(func() {
			for round := range rounds {
				if i > 0 {
					<-right[i-1]
				}
				if i < width-1 {
					<-left[i]
				}
				if round == 0 {
					s.start()
				}
				if i > 0 {
					cells[i] += cells[i-1]
				}
				if i < width-1 {
					cells[i] += cells[i+1]
				}
				cells[i] += work()
				if i > 0 {
					left[i-1] <- struct{}{}
				}
				if i < width-1 {
					right[i] <- struct{}{}
				}
			}
		})
	}
	all.Wait()
	return time.Since(s.begin)
}

// countStencil counts for each task the rounds that it has done.
func countStencil(width, rounds int, work func() uint64) time.Duration {
	type cell struct {
		value uint64
		done  atomic.Int64
		_     [48]byte
	}
	cells := make([]cell, width)
	may := func(i int, round int64) bool { // in a round, tasks with even numbers come first
		least := round + int64(i%2)
		return (i == 0 || cells[i-1].done.Load() >= least) && (i == width-1 || cells[i+1].done.Load() >= least)
	}
	processors := parallel(width)
	var s stopwatch
	var all, ready sync.WaitGroup
	ready.Add(processors)
	for p := range processors {
		first, end := p*width/processors, (p+1)*width/processors
		all.Go(func() {
			ready.Done()
			ready.Wait() // all processors run
			s.start()
			for left := (end - first) * rounds; left > 0; {
				for i := first; i < end; i++ {
					c := &cells[i]
					round := c.done.Load()
					if round == int64(rounds) || !may(i, round) {
						continue
					}
					if i > 0 {
						c.value += cells[i-1].value
					}
					if i < width-1 {
						c.value += cells[i+1].value
					}
					c.value += work()
					c.done.Store(round + 1)
					left--
				}
			}
		})
	}
	all.Wait()
	return time.Since(s.begin)
}

// TestHalfway has the search measure tasks that cost 100 ns each, on processors that other programs
// use, too.
func TestHalfway(t *testing.T) {
	for _, c := range []struct{ ours, want float64 }{{1, 200}, {0.8, 333}, {0.4, math.Inf(1)}} {
		got := halfway(1, func(grain int, _ float64) metgPoint {
			ns := (100 + float64(grain)) / c.ours
			return metgPoint{grain, ns, float64(grain) / ns}
		})
		if math.Abs(got.ns-c.want) > 10 && got.ns != c.want {
			t.Errorf("with %.0f %% of the time: METG is %.0f ns, want %.0f", 100*c.ours, got.ns, c.want)
		}
	}
}
