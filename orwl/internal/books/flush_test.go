package books

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// TestFlush: rounds of urgent tasks share a message if their bodies are short. Nothing is kept back while a task runs that
// is not urgent, while a long body runs and after it, and while the worker has nothing to do.
func TestFlush(t *testing.T) {
	const rounds = 50
	for name, c := range map[string]struct {
		tasks, urgent int
		body          func(step int) int64 // nanoseconds
		least, most   int                  // messages
	}{
		"short bodies":       {6, 4, func(int) int64 { return 0 }, 2, 10},
		"all are urgent":     {4, 4, func(int) int64 { return 0 }, 2, 2}, // the first body is taken for long
		"long bodies":        {6, 4, func(int) int64 { return 10 * brief }, 4 * rounds, 4 * rounds},
		"bodies become long": {4, 4, func(step int) int64 { return int64(step/sampled) * 10 * brief }, 2 * rounds, 3 * rounds},
	} {
		t.Run(name, func(t *testing.T) {
			var s liveness.System
			o := Options{Owner: make([]int32, c.tasks), Urgent: make([]bool, c.tasks), Workers: 1}
			all := make([]plan.Task, c.tasks)
			for i := range c.tasks {
				s.Tasks = append(s.Tasks, liveness.Task{Accesses: []liveness.Access{{Resource: fmt.Sprint(i), Mode: queue.Write}}})
				all[i].Rounds, o.Urgent[i] = rounds, i >= c.tasks-c.urgent
			}
			var p *Pool
			now, step, kept, messages := int64(1), 0, 0, 0
			o.Now = func() int64 { return now }
			o.Plan = plan.OfSystem(s, all)
			o.Run = func(_, task int, k uint32) Outcome {
				if long := !p.books[0].short.Load(); kept > 0 && (long || !o.Urgent[task]) {
					t.Errorf("%d rounds are kept back while task %d runs", kept, task)
				}
				now += c.body(step)
				step++
				if o.Urgent[task] {
					kept++
				}
				if k == rounds {
					return Ends
				}
				return Goes
			}
			o.Flush = func(int) {
				if kept > 0 {
					kept, messages = 0, messages+1
				}
			}
			p = New(o)
			if p.Work(0); kept > 0 || messages < c.least || messages > c.most {
				t.Errorf("%d rounds are kept back at the end, after %d messages, want %d to %d", kept, messages, c.least, c.most)
			}
		})
	}
}

// TestTaken: it counts when a worker takes a task of another one, and not when it takes one of its own.
func TestTaken(t *testing.T) {
	const rounds = 5
	for worker, want := range []uint64{0, 2} {
		var s liveness.System
		all := make([]plan.Task, 2)
		for i := range all {
			s.Tasks = append(s.Tasks, liveness.Task{Accesses: []liveness.Access{{Resource: fmt.Sprint(i), Mode: queue.Write}}})
			all[i].Rounds = rounds
		}
		p := New(Options{Plan: plan.OfSystem(s, all), Owner: make([]int32, 2), Workers: 2, Run: func(_, _ int, k uint32) Outcome {
			if k == rounds {
				return Ends
			}
			return Goes
		}})
		if p.Work(worker); p.Taken() != want {
			t.Errorf("worker %d has run all tasks of worker 0, and has taken %d, want %d", worker, p.Taken(), want)
		}
	}
}
