package trace

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// BenchmarkHandOver is the cost of an observer, as a ratio to the time without one. Two tasks
// pass a resource to and fro and do nothing else. The two measurements alternate after a few
// thousand rounds, so that other load of the machine concerns both.
func BenchmarkHandOver(b *testing.B) {
	const rounds = 5000
	for _, c := range []struct {
		name     string
		observer func() orwl.Observer
	}{
		{"recorded", func() orwl.Observer { return mustRecord(b, Options{}) }},
		{"full", func() orwl.Observer { return mustRecord(b, Options{Slices: 1}) }},
		{"streamed", func() orwl.Observer { s := mustStream(b, StreamOptions{}); s.Subscribe(); return s }},
		{"stream-without-reader", func() orwl.Observer { return mustStream(b, StreamOptions{}) }},
		{"regions-without-trace", func() orwl.Observer { return NewRegions() }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var with, without time.Duration
			for b.Loop() {
				begin := time.Now()
				run(b, rounds)
				middle := time.Now()
				run(b, rounds, c.observer())
				without += middle.Sub(begin)
				with += time.Since(middle)
			}
			hands := float64(2 * rounds * b.N)
			b.ReportMetric(float64(with)/float64(without), "ratio")
			b.ReportMetric(float64(without.Nanoseconds())/hands, "ns-without")
			b.ReportMetric(float64(with.Nanoseconds())/hands, "ns-with")
		})
	}
}
