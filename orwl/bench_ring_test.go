package orwl_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// ringRatios is 10,000 step tasks in a ring. Each task writes its own resource and reads the next one. The peer is
// goroutines that wait for each other in the same way by channels: the least that so many hand-overs cost, for each time
// that a task is active.
//
// In the order of the ring a wave goes through it. The wave is twice as long as there are rounds. If all even tasks are
// declared first, every other task can begin at once, and all go on as in a ring that has run for long.
func ringRatios(b *testing.B) {
	const n, rounds = 10_000, 50
	const target = 1.5 // million activations per second on two processors
	for _, order := range ringOrders() {
		match{order.name, 0,
			contender{"steps", func() figure {
				var s stopwatch
				rt := taskRing(n, rounds, order.place, func(int) { s.start() })
				must(rt.Run(context.Background()))
				return s.figure(n * rounds)
			}},
			[]contender{{"channels", func() figure {
				var s stopwatch
				channelRing(n, rounds, order.place, s.start)
				return s.figure(n * rounds)
			}}},
		}.run(b, func(b *testing.B, ours figure) {
			rate := 1e3 / ours.ns
			b.ReportMetric(rate, "ours-M/s")
			b.ReportMetric(target, "target-M/s")
			if rate < target {
				b.ReportMetric(1, "missed")
			}
		})
	}
}

// ringOrder is how a ring starts.
type ringOrder struct {
	name  string
	place priority
}

func ringOrders() []ringOrder {
	return []ringOrder{
		{"wave", func(int) int { return 0 }},
		{"all", func(i int) int { return i % 2 }},
	}
}

// priority is a task's position in the start order: lower is declared earlier.
type priority func(i int) int

// stopwatch runs from the start of the first task.
type stopwatch struct {
	once  sync.Once
	begin time.Time
}

func (s *stopwatch) start() { s.once.Do(func() { s.begin = time.Now() }) }

func (s *stopwatch) figure(n int) figure {
	return figure{ns: float64(time.Since(s.begin).Nanoseconds()) / float64(n)}
}

// taskRing declares a ring. Each task calls begun before its first round.
func taskRing(n, rounds int, place priority, begun func(i int)) *orwl.Runtime {
	rt := newRuntime()
	cells, order := make([]*resource.Resource, n), make([]int, n)
	for i := range cells {
		cells[i], order[i] = orwl.Array[uint64](rt, fmt.Sprint(i), 1), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
	for _, i := range order {
		t := rt.Task(fmt.Sprint(i))
		own, next := orwl.Writes[uint64](t, cells[i]), orwl.Reads[uint64](t, cells[(i+1)%n])
		t.Each(rounds, func(round int) error {
			if round == 0 {
				begun(i)
			}
			own.Slice()[0] += next.View().At(0) + 1
			return nil
		})
	}
	return rt
}

// cell is a resource of a channelRing, with one writer and one reader.
type cell struct {
	mayWrite, mayRead chan struct{}
	value             uint64
}

// channelRing computes the same values as a taskRing, and returns them.
func channelRing(n, rounds int, place priority, begun func()) (values []uint64) {
	cells := make([]*cell, n)
	for i := range cells {
		c := &cell{mayWrite: make(chan struct{}, 1), mayRead: make(chan struct{}, 1)}
		reader := (i + n - 1) % n
		if place(i) < place(reader) || place(i) == place(reader) && i < reader {
			c.mayWrite <- struct{}{}
		} else {
			c.mayRead <- struct{}{}
		}
		cells[i] = c
	}
	var all sync.WaitGroup
	for i, own := range cells {
		next := cells[(i+1)%n]
		all.Go(func() {
			begun()
			for range rounds {
				<-own.mayWrite
				<-next.mayRead
				own.value += next.value + 1
				own.mayRead <- struct{}{}
				next.mayWrite <- struct{}{}
			}
		})
	}
	all.Wait()
	for _, c := range cells {
		values = append(values, c.value)
	}
	return values
}

// TestRings checks that tasks and channels wait for each other in the same way: they
// compute the same values, which depend on the order of the tasks.
func TestRings(t *testing.T) {
	const n, rounds = 32, 7
	for _, order := range ringOrders() {
		rt := taskRing(n, rounds, order.place, func(int) {})
		must(rt.Run(t.Context()))
		var ours []uint64
		for i := range n {
			h := new(handle.Handle)
			must(h.Request(rt.Lookup(fmt.Sprint(i)), queue.Read))
			must(h.Acquire(t.Context()))
			v, err := handle.Read[uint64](h)
			must(err)
			ours = append(ours, v.At(0))
		}
		if peer := channelRing(n, rounds, order.place, func() {}); !slices.Equal(ours, peer) {
			t.Errorf("%s: tasks compute %d, goroutines with channels %d", order.name, ours, peer)
		}
	}
}
