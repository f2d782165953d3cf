package trace

import (
	"context"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
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

// run runs two tasks that pass a resource to and fro.
func run(t testing.TB, rounds int, observers ...orwl.Observer) {
	t.Helper()
	rt := mustNew(t, orwl.Options{Observers: observers})
	r := rt.Resource("x", 8)
	for _, name := range []string{"there", "back"} {
		task := rt.Task(name)
		orwl.Writes[byte](task, r)
		task.Do(func(t *orwl.Task) error {
			for range inner.OfTask(t).Rounds(rounds) {
			}
			return nil
		})
	}
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}
