package taskbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Sweep is the search of METG: how small a task may be so that the processors still spend a
// share of their time on kernels. METG is the minimum effective task granularity of the paper.
type Sweep struct {
	Graphs    []Graph // their kernels do a number of iterations
	Workers   int
	Threshold float64 // the share
	Repeats   int     // runs of each size; the median counts
}

// Point is what a size of the tasks gave.
type Point struct {
	Iterations  int           // of the kernel, in each task
	Elapsed     time.Duration // of the median run
	Granularity time.Duration // time of a processor for each task
	Efficiency  float64       // iterations a second, of the peak
}

// METG is the outcome of a sweep. Granularity is interpolated between the two points around
// the threshold, in nanoseconds.
type METG struct {
	Peak        float64 // iterations a second of all workers, if tasks need not wait
	Granularity float64
	Points      []Point // by iterations
}

// ErrSweep is a sweep that finds nothing.
var ErrSweep = errors.New("taskbench: no METG")

// Run searches for the METG of a system: it doubles the iterations until the threshold is
// reached, and then halves the interval. The peak is the rate of large tasks that read nothing.
func (s Sweep) Run(ctx context.Context, system System) (METG, error) {
	for _, g := range s.Graphs {
		if g.Kernel.Type == Empty {
			return METG{}, fmt.Errorf("%w: -kernel %v has no iterations: take another kernel", ErrSweep, g.Kernel.Type)
		}
	}
	peak, err := s.peak(ctx, system)
	if err != nil {
		return METG{}, err
	}
	return s.search(func(iterations int) (Point, error) {
		run, err := s.run(ctx, system, s.Graphs, iterations)
		if err != nil {
			return Point{}, err
		}
		return run.point(iterations, s.Workers, peak), nil
	}, peak)
}

// mostDoubled ends a search that finds nothing.
const mostDoubled = 1 << 24

// search finds the smallest number of iterations that reaches the threshold.
func (s Sweep) search(measure func(iterations int) (Point, error), peak float64) (METG, error) {
	m := METG{Peak: peak}
	at := func(iterations int) (Point, error) {
		p, err := measure(iterations)
		m.Points = append(m.Points, p)
		return p, err
	}
	low, err := at(0)
	if err != nil {
		return m, err
	}
	high := low
	for n := 1; ; n *= 2 {
		if high, err = at(n); err != nil {
			return m, err
		}
		if high.Efficiency >= s.Threshold {
			break
		}
		if low = high; n >= mostDoubled {
			return m, fmt.Errorf("%w: %d iterations reach %.0f %% of the peak, and not %.0f %%", ErrSweep, n, 100*high.Efficiency, 100*s.Threshold)
		}
	}
	for high.Iterations-low.Iterations > max(1, high.Iterations/16) {
		middle, err := at((low.Iterations + high.Iterations) / 2)
		if err != nil {
			return m, err
		}
		if middle.Efficiency >= s.Threshold {
			high = middle
		} else {
			low = middle
		}
	}
	share := (s.Threshold - low.Efficiency) / (high.Efficiency - low.Efficiency)
	m.Granularity = float64(low.Granularity) + share*float64(high.Granularity-low.Granularity)
	slices.SortFunc(m.Points, func(a, b Point) int { return a.Iterations - b.Iterations })
	return m, nil
}

// median is the median run of a size.
type median struct {
	elapsed time.Duration
	tasks   int64
}

// enough is how long a run takes at least, so that its start does not count. A graph whose
// runs are shorter gets more steps, up to so many tasks.
const (
	enough    = 50 * time.Millisecond
	mostTasks = 1 << 23
)

// run runs graphs with so many iterations in each task.
func (s Sweep) run(ctx context.Context, system System, graphs []Graph, iterations int) (median, error) {
	var took []time.Duration
	for times := 1; ; {
		schedules, err := schedulesOf(graphs, iterations, times)
		if err != nil {
			return median{}, err
		}
		var r Result
		for took = nil; len(took) < s.Repeats; took = append(took, r.Elapsed) {
			runtime.GC() // otherwise this run would collect the garbage of the last one
			if r, err = system.Run(ctx, schedules); err != nil {
				return median{}, err
			}
			if len(took) == 0 && r.Elapsed < enough && r.Tasks < mostTasks {
				break
			}
		}
		if len(took) > 0 {
			slices.Sort(took)
			return median{took[len(took)/2], r.Tasks}, nil
		}
		times *= 1 + int(min(enough*5/4/max(r.Elapsed, 1), time.Duration(mostTasks/r.Tasks)))
	}
}

// schedulesOf are the schedules of graphs with so many iterations in each task, and so many times
// as many steps.
func schedulesOf(graphs []Graph, iterations, times int) (schedules []*Schedule, err error) {
	for _, g := range graphs {
		g.Kernel.Iterations = iterations
		g.Steps *= times
		schedule, err := NewSchedule(g)
		if err != nil {
			return nil, err
		}
		schedules = append(schedules, schedule)
	}
	return schedules, nil
}

func (m median) point(iterations, workers int, peak float64) Point {
	all := float64(iterations) * float64(m.tasks)
	return Point{
		Iterations:  iterations,
		Elapsed:     m.elapsed,
		Granularity: m.elapsed * time.Duration(workers) / time.Duration(m.tasks),
		Efficiency:  all / m.elapsed.Seconds() / peak,
	}
}

// peak is the rate of tasks that take some milliseconds and read nothing. There are so many of
// them that all workers compute nearly all the time.
func (s Sweep) peak(ctx context.Context, system System) (float64, error) {
	const long, each = 2 * time.Millisecond, 8
	g := s.Graphs[0]
	g.Pattern, g.Period, g.Fields = patterns[0], 0, leastFields
	g.Width, g.Steps = each*s.Workers, 4
	iterations, repeats := 32, s.Repeats
	for s.Repeats = 1; ; {
		iterations *= 2
		run, err := s.run(ctx, system, []Graph{g}, iterations)
		if err != nil {
			return 0, err
		}
		if run.point(iterations, s.Workers, 1).Granularity >= long || iterations >= mostDoubled {
			break
		}
	}
	s.Repeats = max(repeats, 5)
	run, err := s.run(ctx, system, []Graph{g}, iterations)
	if err != nil {
		return 0, err
	}
	return float64(iterations) * float64(run.tasks) / run.elapsed.Seconds(), nil
}
