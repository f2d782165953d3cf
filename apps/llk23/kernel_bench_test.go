package main

import (
	"fmt"
	"sync"
	"testing"
)

// BenchmarkKernels is each form of each kernel, in a cache and from memory. On
// a busy machine take the least of many short runs.
func BenchmarkKernels(b *testing.B) {
	for _, size := range []int{16, 32, 100, 500, 1000, 4000} {
		whole := sync.OnceValue(func() *block { return filled(b, size, size, noise) })
		for _, f := range manners() {
			b.Run(fmt.Sprintf("%s,%dx%d", f.name, size, size), func(b *testing.B) {
				all := whole()
				for b.Loop() {
					f.sweep(all, 1, size+1)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size*size), "ns/element")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
