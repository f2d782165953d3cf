package orwl_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// bytesEach measures the memory of things, with all that they have allocated.
func bytesEach(b *testing.B) {
	const target = 256
	ended, end := context.WithCancel(context.Background())
	end()
	for _, thing := range []struct {
		name   string
		target float64
		setUp  func(n int) (one func(i int) any)
	}{
		{"resource", target, func(int) func(int) any {
			return func(int) any { return newResource(0) }
		}},
		{"pair-idle", target, func(int) func(int) any {
			return func(int) any { return new(handle.Pair) }
		}},
		// A place with everything that it needs to sleep; it is woken at once.
		{"pair-that-waited", target, func(n int) func(int) any {
			held := make([]*resource.Resource, n)
			for i := range held {
				held[i] = newResource(0)
				must(new(queue.Place).Request((*queue.Resource)(held[i]), queue.Write))
			}
			return func(i int) any {
				p := new(handle.Pair)
				must(p.Request(held[i], queue.Write))
				if err := p.Acquire(ended); !errors.Is(err, context.Canceled) {
					panic(err)
				}
				return p
			}
		}},
		{"task", 0, func(n int) func(int) any {
			rt, names := newRuntime(), numbers(n)
			return func(i int) any { return rt.Task(names[i]) }
		}},
		{"access", 0, func(n int) func(int) any {
			rt, names := newRuntime(), numbers(n)
			r := rt.Resource("r", 0)
			tasks := make([]*orwl.Task, n)
			for i := range tasks {
				tasks[i] = rt.Task(names[i])
			}
			return func(i int) any { return tasks[i].Write(r) }
		}},
	} {
		b.Run(thing.name, func(b *testing.B) {
			for b.Loop() {
				const n = 10_000
				one := thing.setUp(n)
				kept := make([]any, n)
				before := live()
				for i := range kept {
					kept[i] = one(i)
				}
				each := float64(live()-before) / n
				runtime.KeepAlive(kept)
				runtime.KeepAlive(one)
				b.ReportMetric(each, "bytes")
				if thing.target > 0 {
					most(b, each, thing.target)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// start is 100,000 tasks in a ring. It measures how long it takes to declare them, to
// start them (with the check that they cannot deadlock), and until all have had their
// first round.
func start(b *testing.B) {
	const n = 100_000
	canonical := func(int) int { return 0 }
	b.Run("time", func(b *testing.B) {
		for b.Loop() {
			begin := time.Now()
			var started time.Time
			rt := taskRing(n, 1, canonical, func(i int) {
				if i == 0 {
					started = time.Now()
				}
			})
			declared := time.Now()
			must(rt.Run(context.Background()))
			done := time.Now()
			for _, part := range []struct {
				name     string
				from, to time.Time
			}{{"declare-ms", begin, declared}, {"start-ms", declared, started}, {"first-round-ms", declared, done}} {
				b.ReportMetric(float64(part.to.Sub(part.from).Microseconds())/1000, part.name)
			}
		}
		b.ReportMetric(0, "ns/op")
	})
	b.Run("faces", startFaces)
}

// startFaces is how long the start of 64 × 64 step tasks takes, which have 65,536 accesses. Each
// writes eight resources of its own, one for each neighbour on a torus, and reads one of each
// neighbour.
func startFaces(b *testing.B) {
	const side, target = 64, 50 // ms
	names := numbers(8 * side * side)
	var start []float64
	for b.Loop() {
		rt := newRuntime()
		faces := make([]*resource.Resource, len(names))
		for i, name := range names {
			faces[i] = rt.Resource(name, 0)
		}
		begun := make(chan time.Time, side*side)
		for at := range side * side {
			t := rt.Task(names[at])
			for face := range 8 {
				t.Write(faces[8*at+face])
			}
			for face := range 8 {
				cell := face + face/4 // of the nine around the task, without the middle
				row, col := (at/side+cell/3-1+side)%side, (at+cell%3-1+side)%side
				t.Read(faces[8*(side*row+col)+7-face])
			}
			t.Each(1, func(int) error { begun <- time.Now(); return nil })
		}
		runtime.GC() // the start does not pay for the declarations
		declared := time.Now()
		must(rt.Run(context.Background()))
		start = append(start, float64((<-begun).Sub(declared).Microseconds())/1000)
	}
	slices.Sort(start)
	most(b, start[len(start)/2], target)
	b.ReportMetric(start[len(start)/2], "start-ms")
	b.ReportMetric(0, "ns/op")
}

// stepMemory is what 100,000 step tasks take while they run, each with a resource of its
// own and two accesses.
func stepMemory(b *testing.B) {
	const n, target = 100_000, 100 // MiB
	for b.Loop() {
		before, during := live(), int64(0)
		rt := taskRing(n, 2, func(int) int { return 0 }, func(i int) {
			if i == n-1 {
				during = live()
			}
		})
		must(rt.Run(context.Background()))
		mib := float64(during-before) / (1 << 20)
		b.ReportMetric(mib, "MiB")
		most(b, mib, target)
	}
	b.ReportMetric(0, "ns/op") // of all together: says nothing
}

// live is the number of bytes in use.
func live() int64 {
	runtime.GC()
	runtime.GC() // the second one frees the memory of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func newResource(size int) *resource.Resource {
	r, err := queue.New("r", size)
	must(err)
	return (*resource.Resource)(r)
}

func newRuntime() *orwl.Runtime {
	rt, err := orwl.New(orwl.Options{Stall: -1})
	must(err)
	return rt
}

func numbers(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	return names
}
