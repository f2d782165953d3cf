package books

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// literal is the stencil graph of Task Bench: in each step, a task of each column reads what three
// columns have written in the step before. Two tasks of a column take turns, and each has an array.
func literal(width int) (s liveness.System) {
	name := func(column, half int) string { return fmt.Sprint(column, "/", half) }
	for half := range 2 {
		for c := range width {
			t := liveness.Task{Name: name(c, half), Accesses: []liveness.Access{{Resource: name(c, half), Mode: queue.Write}}}
			for d := max(c-1, 0); d <= min(c+1, width-1); d++ {
				t.Accesses = append(t.Accesses, liveness.Access{Resource: name(d, 1-half)})
			}
			s.Tasks = append(s.Tasks, t)
		}
	}
	return s
}

// ringOf is tasks in a ring, in a random order.
func ringOf(n int) (s liveness.System) {
	order := rand.New(rand.NewPCG(1, 1)).Perm(n)
	tasks := make([]liveness.Task, n)
	for i, at := range order {
		tasks[at] = liveness.Task{Name: fmt.Sprint(at), Accesses: []liveness.Access{
			{Resource: fmt.Sprint(i), Mode: queue.Write}, {Resource: fmt.Sprint((i + 1) % n)},
		}}
	}
	s.Tasks = tasks
	return s
}

// play runs so many steps of a system, and returns nanoseconds of a worker for each.
func play(b *testing.B, s liveness.System, workers int, owner func(task int) int32, steps int) float64 {
	b.Helper()
	rounds := max(steps/len(s.Tasks), 8)
	tasks := make([]plan.Task, len(s.Tasks))
	owners := make([]int32, len(s.Tasks))
	for i := range tasks {
		tasks[i].Rounds, owners[i] = rounds, owner(i)
	}
	begin := time.Now()
	p := New(Options{
		Plan: plan.OfSystem(s, tasks), Owner: owners, Workers: workers, Patience: 2000,
		Now: func() int64 { return int64(time.Since(begin)) },
		Run: func(_, task int, k uint32) Outcome {
			if int(k) == rounds {
				return Ends
			}
			return Goes
		},
	})
	began := time.Now()
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { p.Work(w) })
	}
	all.Wait()
	return float64(time.Since(began).Nanoseconds()) * float64(workers) / float64(rounds*len(tasks))
}

func BenchmarkSteps(b *testing.B) {
	for _, workers := range []int{1, 2, 4} {
		for _, width := range []int{2, 16, 256, 4096} {
			s := literal(width)
			b.Run(fmt.Sprintf("literal %d, %d workers", width, workers), func(b *testing.B) {
				for b.Loop() {
					b.ReportMetric(play(b, s, workers, func(t int) int32 { return int32(t % width * workers / width) }, 1<<21), "worker-ns/step")
				}
			})
		}
		ring := ringOf(4096)
		b.Run(fmt.Sprintf("permuted ring, %d workers", workers), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(play(b, ring, workers, func(t int) int32 { return int32(t * workers / 4096) }, 1<<21), "worker-ns/step")
			}
		})
	}
}
