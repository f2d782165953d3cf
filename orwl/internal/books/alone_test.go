package books

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// crowd is a pool of so many tasks that write one resource. All of them stand alone.
func crowd(n int) *Pool {
	var s liveness.System
	tasks, owner := make([]plan.Task, n), make([]int32, n)
	for i := range n {
		s.Tasks = append(s.Tasks, liveness.Task{Accesses: []liveness.Access{{Resource: "r", Mode: queue.Write}}})
		tasks[i], owner[i] = plan.Task{Rounds: plan.Open, Apart: true}, Alone
	}
	return New(Options{Plan: plan.New(s, tasks), Owner: owner})
}

// TestContextEndsAwait: a goroutine waits until its context ends, and finds its turn later.
func TestContextEndsAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := crowd(2)
		for range 2 { // an alarm serves one context after another
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan bool, 1)
			go func() { ended <- p.Await(ctx, 1) }()
			synctest.Wait()
			select {
			case ok := <-ended:
				t.Fatalf("Await has returned %t before its turn", ok)
			default:
			}
			if cancel(); <-ended {
				t.Fatal("Await has returned true after its context's end, before its turn")
			}
		}
		p.Publish(0)
		if !p.Ready(1) || !p.Await(t.Context(), 1) {
			t.Fatal("the second task has no turn after the first one's")
		}
	})
}

// TestStopEndsAwait: a goroutine wakes when the pool stops.
func TestStopEndsAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ended := crowd(2), make(chan bool, 1)
		go func() { ended <- p.Await(t.Context(), 1) }()
		synctest.Wait()
		if p.Stop(); <-ended {
			t.Fatal("Await has returned true after Stop")
		}
	})
}

// TestTurns: where a task waits for the one before it only, a task that has ended takes empty turns. So those
// behind it go on in their order.
func TestTurns(t *testing.T) {
	const n, rounds = 20, 5
	p := crowd(n)
	if p.Plan.Turns(0) == 0 {
		t.Fatalf("%d tasks keep all their conditions: want more tasks", n)
	}
	var all sync.WaitGroup
	var order []int // of the rounds: each follows the one before
	for task := range n {
		all.Go(func() {
			last := rounds - task%3
			for k := 1; p.Await(t.Context(), task); k++ {
				order = append(order, task)
				if k < last {
					p.Publish(task)
					continue
				}
				if p.End(task, true) {
					p.Turns(task)
				}
				return
			}
		})
	}
	all.Wait()
	at := 0
	for k := 1; k <= rounds; k++ {
		for task := range n {
			if k > rounds-task%3 {
				continue
			}
			if order[at] != task {
				t.Fatalf("round %d: task %d has the turn of task %d", k, order[at], task)
			}
			at++
		}
	}
	if at != len(order) {
		t.Fatalf("%d turns, want %d", len(order), at)
	}
}
