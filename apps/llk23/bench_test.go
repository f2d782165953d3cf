package main

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// BenchmarkListing is the sequential sweep, in memory and in a cache.
func BenchmarkListing(b *testing.B) {
	for _, side := range []int{2000, 128} {
		b.Run(fmt.Sprintf("%dx%d", side, side), func(b *testing.B) {
			p := problem{rows: side, cols: side, iters: 1, kernel: listing(), values: noise}
			all, err := p.newBlock(b.Context(), p.whole())
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

// BenchmarkField is the sweep in blocks beside the sequential one in the same
// run: how many times as long that takes.
func BenchmarkField(b *testing.B) {
	for _, c := range []struct {
		grid, each size
		iters      int
		forms      []form
		kernel     kernel
		sweeps     int
	}{
		{size{4, 4}, size{500, 500}, 20, []form{fused, nine}, listing(), 1},
		{size{2, 1}, size{1000, 2000}, 20, []form{fused}, listing(), 1},
		{size{4, 4}, size{500, 500}, 40, []form{fused}, fast(), 1},
		{size{8, 1}, size{250, 2000}, 40, []form{fused}, fast(), 1},
		{size{8, 1}, size{250, 2000}, 40, []form{fused}, fast(), 4},
		{size{4, 4}, size{500, 500}, 40, []form{fused}, fast(), 4},
		{size{64, 64}, size{16, 16}, 50, []form{fused, nine}, listing(), 1},
		{size{64, 64}, size{16, 16}, 50, []form{fused, nine}, fast(), 1},
	} {
		for _, form := range c.forms {
			b.Run(fmt.Sprintf("%v of %v,%s,%s,%d in a pass", c.grid, c.each, form, c.kernel.name, c.sweeps), func(b *testing.B) {
				all := c.grid.times(c.each)
				p := problem{rows: all.rows, cols: all.cols, iters: c.iters, kernel: c.kernel, values: noise, sweeps: c.sweeps}
				var blocks, sequential time.Duration
				for b.Loop() {
					f := solved(b, p, c.grid, form)
					took, err := verify(b.Context(), f, show.Silent())
					if err != nil {
						b.Fatal(err)
					}
					blocks, sequential = blocks+f.took, sequential+took
				}
				b.ReportMetric(float64(blocks.Nanoseconds())/float64(int64(b.N)*p.updates()), "ns/element")
				b.ReportMetric(blocks.Seconds()*1e6/float64(int64(b.N)*c.grid.cells()*int64(c.iters)), "µs/block")
				b.ReportMetric(float64(sequential)/float64(blocks), "sequential/blocks")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
