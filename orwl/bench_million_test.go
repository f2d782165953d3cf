package orwl_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// BenchmarkMillion declares 10^6 tasks with three accesses each, proves them, starts them and runs two rounds. A task writes a resource of its
// own, and reads those of its two neighbours on a ring. In a second run the collector looks what is alive in the second round:
//
//	go test ./orwl -run '^$' -bench Million -benchtime 1x
//
// bytes/task counts the resources, the names and the bodies of the program, too. MB-taken is what the process has from the system after that.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		var began, ended time.Time
		begin := time.Now()
		rt := neighbours(n, func(i, round int) {
			if i == 0 && round == 0 {
				began = time.Now()
			}
		})
		declared := time.Now()
		must(rt.Run(context.Background()))
		ended = time.Now()
		b.ReportMetric(declared.Sub(begin).Seconds(), "declare-s")
		b.ReportMetric(began.Sub(declared).Seconds(), "start-s")
		b.ReportMetric(ended.Sub(began).Seconds()/2, "round-s")
		runtime.KeepAlive(rt)

		rt = nil
		before, during := live(), int64(0)
		rt = neighbours(n, func(i, round int) {
			if i == n-1 && round == 1 {
				during = live()
			}
		})
		must(rt.Run(context.Background()))
		b.ReportMetric(float64(during-before)/n, "bytes/task")
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB-taken")
	}
	b.ReportMetric(0, "ns/op") // of all together: says nothing
}

// neighbours declares n tasks on a ring, for two rounds. Each calls body in each round.
func neighbours(n int, body func(i, round int)) *orwl.Runtime {
	rt := newRuntime()
	cells := make([]*resource.Resource, n)
	for i := range cells {
		cells[i] = orwl.Array[uint64](rt, fmt.Sprint("cell ", i), 1)
	}
	for i := range cells {
		t := rt.Task(fmt.Sprint("task ", i))
		own := orwl.Writes[uint64](t, cells[i])
		left, right := orwl.Reads[uint64](t, cells[(i+n-1)%n]), orwl.Reads[uint64](t, cells[(i+1)%n])
		t.Each(2, func(round int) error {
			body(i, round)
			own.Slice()[0] += left.View().At(0) + right.View().At(0)
			return nil
		})
	}
	return rt
}
