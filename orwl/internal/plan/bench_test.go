package plan

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// ring is n tasks in a circle. Each task writes a resource of its own, and reads the resources of its
// two neighbours.
func ring(n int) (liveness.System, []Task) {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("block ", i)
	}
	s, tasks := liveness.System{Tasks: make([]liveness.Task, n)}, make([]Task, n)
	for i := range s.Tasks {
		tasks[i] = Task{Rounds: 100}
		s.Tasks[i] = liveness.Task{Name: fmt.Sprint("task ", i), Accesses: []liveness.Access{
			{Resource: names[i], Mode: queue.Write}, {Resource: names[(i+1)%n]}, {Resource: names[(i+n-1)%n]},
		}}
	}
	return s, tasks
}

// hub is n tasks with three accesses each. All read one resource, or write it, and end after different
// rounds.
func hub(n int) (liveness.System, []Task) {
	s, tasks := ring(n)
	for i := range s.Tasks {
		s.Tasks[i].Accesses[2] = liveness.Access{Resource: "hub", Mode: queue.Mode(min(i%100, 1) ^ 1)}
		tasks[i].Rounds = 100 + i%2
	}
	return s, tasks
}

// TestLinear counts what a plan costs: the conditions of a task and the bytes that New allocates for
// it do not grow with the number of tasks.
func TestLinear(t *testing.T) {
	rings.Needs(t, rings.Change)
	rings.Computes(t)
	for name, make := range map[string]func(int) (liveness.System, []Task){"ring": ring, "hub": hub} {
		for _, n := range []int{10_000, 100_000} {
			program := describe(make(n))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := New(program)
			runtime.ReadMemStats(&after)
			conditions, bytes := float64(len(p.when))/float64(n), (after.TotalAlloc-before.TotalAlloc)/uint64(n)
			t.Logf("%s of %d tasks: %.2f conditions and %d bytes a task", name, n, conditions, bytes)
			if conditions > 4 || bytes > 100 {
				t.Errorf("%s of %d tasks: %.2f conditions and %d bytes a task, want at most 4 and 100", name, n, conditions, bytes)
			}
		}
	}
}

// BenchmarkNew makes the plan of tasks with three accesses each, and proves that they go on for ever.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		s, tasks := ring(n)
		b.Run(fmt.Sprint("plan-", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				OfSystem(s, tasks)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
		b.Run(fmt.Sprint("nodes-", n), func(b *testing.B) { // in four blocks
			homes := make(map[string]int, n)
			for t := range tasks {
				tasks[t].Node = t * 4 / n
				homes[s.Tasks[t].Accesses[0].Resource] = t * 4 / n
			}
			b.ReportAllocs()
			for b.Loop() {
				OfSystemOnNodes(s, tasks, homes)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
		b.Run(fmt.Sprint("proof-", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Check(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
	}
}
