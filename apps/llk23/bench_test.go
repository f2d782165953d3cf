package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkListing is the sequential sweep, in memory and in a cache.
func BenchmarkListing(b *testing.B) {
	for _, size := range []int{2000, 128} {
		b.Run(fmt.Sprintf("%dx%d", size, size), func(b *testing.B) {
			p := problem{rows: size, cols: size, iters: 1, kernel: listing(), values: smooth}
			all, err := newBlock(b.Context(), p.whole(), p.values)
			if err != nil {
				b.Fatal(err)
			}
			var swept atomic.Int64
			for b.Loop() {
				if err := p.sequential(b.Context(), all, &swept); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(swept.Load()), "ns/element")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkStrips is the sweep in strips beside the sequential one in the same
// run: how many times as long that takes.
func BenchmarkStrips(b *testing.B) {
	for _, c := range []struct{ size, iters, ranks int }{{2000, 20, 1}, {2000, 20, 2}, {2000, 20, 64}, {128, 1000, 2}} {
		b.Run(fmt.Sprintf("%dx%d,%d ranks", c.size, c.size, c.ranks), func(b *testing.B) {
			p := problem{rows: c.size, cols: c.size, iters: c.iters, kernel: listing(), values: smooth}
			var strips, sequential time.Duration
			for b.Loop() {
				s, err := sweepStrips(context.Background(), p, c.ranks, quiet())
				if err != nil {
					b.Fatal(err)
				}
				took, err := verify(context.Background(), s.strips, quiet())
				if err != nil {
					b.Fatal(err)
				}
				strips, sequential = strips+s.took, sequential+took
			}
			b.ReportMetric(float64(strips.Nanoseconds())/float64(int64(b.N)*p.updates()), "ns/element")
			b.ReportMetric(float64(sequential)/float64(strips), "sequential/strips")
			b.ReportMetric(0, "ns/op")
		})
	}
}
