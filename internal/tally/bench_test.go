package tally_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/tally"
)

// BenchmarkAdd compares a Count with an atomic word whose writer keeps a number of its
// own and stores it, and with an atomic addition. They take turns; the best turn of
// each counts. of-store and of-add are the Count's shares of the other two.
func BenchmarkAdd(b *testing.B) {
	const adds = 10_000
	var count tally.Count
	var stored, added atomic.Uint64
	contenders := []struct {
		name string
		run  func()
		ns   float64
	}{
		{"tally", func() {
			for range adds {
				count.Add(1)
			}
		}, math.Inf(1)},
		{"store", func() {
			own := stored.Load()
			for range adds {
				own++
				stored.Store(own)
			}
		}, math.Inf(1)},
		{"add", func() {
			for range adds {
				added.Add(1)
			}
		}, math.Inf(1)},
	}
	for b.Loop() {
		for i := range contenders {
			c := &contenders[i]
			begin := time.Now()
			c.run()
			c.ns = min(c.ns, float64(time.Since(begin))/adds)
		}
	}
	for _, c := range contenders {
		b.ReportMetric(c.ns, c.name+"-ns")
	}
	b.ReportMetric(contenders[0].ns/contenders[1].ns, "of-store")
	b.ReportMetric(contenders[0].ns/contenders[2].ns, "of-add")
	b.ReportMetric(0, "ns/op") // all three together
}
