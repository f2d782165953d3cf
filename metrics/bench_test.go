package metrics_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/orwl"
)

// The cost of metrics for a program that only hands over: on against off, in turns, in one
// run.
//
//	go test ./metrics -run '^$' -bench Ratios -benchtime 1x
//
// on/off is the median of the turns' ratios; it may be 1.05.
var (
	benchTurns = flag.Int("ratios.turns", 15, "how often on and off take turns")
	benchTurn  = flag.Duration("ratios.turn", 50*time.Millisecond, "about how long a turn lasts")
)

func BenchmarkRatios(b *testing.B) {
	two := []queue.Mode{queue.Write, queue.Write}
	eight := append([]queue.Mode{queue.Write}, slices.Repeat([]queue.Mode{queue.Read}, 8)...)
	for _, c := range []struct {
		name string
		do   func(m *metrics.Metrics, n int)
	}{
		{"two-writers/handles", func(m *metrics.Metrics, n int) { alternate(m, two, n) }},
		{"two-writers/tasks", func(m *metrics.Metrics, n int) { tasks(m, two, n) }},
		{"writer-8-readers/handles", func(m *metrics.Metrics, n int) { alternate(m, eight, n) }},
		{"writer-8-readers/tasks", func(m *metrics.Metrics, n int) { tasks(m, eight, n) }},
		{"free/pair", func(m *metrics.Metrics, n int) { alternate(m, two[:1], n) }},
	} {
		b.Run(c.name, func(b *testing.B) { ratio(b, c.do) })
	}
}

// ratio reports what on and off take, and their ratio.
func ratio(b *testing.B, do func(m *metrics.Metrics, n int)) {
	for b.Loop() {
		n := 1000
		for ; ; n *= 2 {
			begin := time.Now()
			do(nil, n)
			if time.Since(begin) > *benchTurn {
				break
			}
		}
		var on, off, ratios []float64
		for turn := range *benchTurns {
			ns := func(m *metrics.Metrics) float64 {
				begin := time.Now()
				do(m, n)
				return float64(time.Since(begin)) / float64(n)
			}
			m := must(metrics.New(metrics.Options{Registerer: prometheus.NewRegistry()}))
			var x, y float64
			if turn%2 == 0 {
				x, y = ns(m), ns(nil)
			} else {
				y, x = ns(nil), ns(m)
			}
			on, off, ratios = append(on, x), append(off, y), append(ratios, x/y)
		}
		b.ReportMetric(median(on), "on-ns")
		b.ReportMetric(median(off), "off-ns")
		b.ReportMetric(median(ratios), "on/off")
		b.ReportMetric(slices.Min(on)/slices.Min(off), "least-on/off")
		b.ReportMetric(1.05, "target")
	}
	b.ReportMetric(0, "ns/op") // of all together: says nothing
}

func median(of []float64) float64 {
	slices.Sort(of)
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}

// alternate is pairs of one resource that go round so many times.
func alternate(m *metrics.Metrics, modes []queue.Mode, n int) {
	r := must(queue.New("r", 8))
	queued := make([]*queue.Place, len(modes))
	for i, mode := range modes {
		queued[i] = new(queue.Place)
		if m != nil {
			m.Place(queued[i], r, mode)
		}
		check(queued[i].Request(r, mode))
	}
	var all sync.WaitGroup
	for _, p := range queued {
		all.Go(func() {
			ctx := context.Background()
			for range n {
				check(p.Acquire(ctx))
				check(p.Renew())
			}
			check(p.Cancel())
		})
	}
	all.Wait()
}

// tasks is tasks that access one resource in so many rounds.
func tasks(m *metrics.Metrics, modes []queue.Mode, n int) {
	o := orwl.Options{}
	if m != nil {
		o.Observers = []orwl.Observer{m}
	}
	rt := must(orwl.New(o))
	r := rt.Resource("r", 8)
	for i, mode := range modes {
		t := rt.Task(fmt.Sprint(i))
		if mode == queue.Write {
			orwl.Writes[byte](t, r)
		} else {
			orwl.Reads[byte](t, r)
		}
		t.Each(n, func(int) error { return nil })
	}
	check(rt.Run(context.Background()))
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
