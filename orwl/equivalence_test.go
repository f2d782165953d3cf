package orwl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/liveness"
)

var drawn = rings.Seeds("orwl.plans", 200, 8000, "random programs that the tests of package orwl run")

// plans are the seeds of plans, fewer if each costs more.
func plans(t *testing.T, share int) iter.Seq[uint64] {
	if testing.Short() || rings.Race {
		share *= 5
		t.Log("a fifth of the plans: -short, or the race detector")
	}
	return drawn.Part(1, share)
}

// few plans may be all of one kind.
const few = 20

// Tasks together compute what running them one after another, round by round, would
// (DESIGN, "Starting right"): the same bytes, the same versions, and the same in every
// round. A program that would come to a stop is refused instead.
func TestSequentialEquivalence(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	alive, dead, rounds := 0, 0, 0
	for seed := range plans(t, 1) {
		p := drawPlan(seed)
		if len(p.order()) < len(p.tasks) {
			dead++
			checkRefused(t, p)
			continue
		}
		alive++
		want := p.sequential()
		for _, n := range []int{1, 2, 4} {
			runtime.GOMAXPROCS(n)
			seen := make([][]uint64, len(p.tasks))
			rt := p.declare(t, Options{}, func(i int) func(*Task, int) error {
				return p.body(i, &seen[i], noise(seed<<8+uint64(n)<<4+uint64(i)))
			})
			if err := rt.Run(context.Background()); err != nil {
				t.Fatalf("%v\nin %v", err, p)
			}
			checkIdle(t, rt)
			if got := p.result(t, rt, seen); !reflect.DeepEqual(got, want) {
				t.Fatalf("%d processors: %v, want %v\nin %v", n, got, want, p)
			}
		}
		for _, s := range want.seen {
			rounds += len(s)
		}
	}
	if alive == 0 || dead == 0 {
		t.Errorf("%d plans live and %d do not: draw others", alive, dead)
	}
	t.Logf("%d plans ran, %d rounds of tasks, 3 times; %d were refused", alive, rounds, dead)
}

// checkRefused checks that a plan does not run, and that the error names the right
// tasks.
func checkRefused(t *testing.T, p *randomProgram) {
	t.Helper()
	rt := p.declare(t, Options{}, func(i int) func(*Task, int) error {
		return func(*Task, int) error { panic(fmt.Sprintf("task %d runs", i)) }
	})
	var deadlock *liveness.DeadlockError
	err := rt.Run(context.Background())
	if !errors.As(err, &deadlock) {
		t.Fatalf("%v, want a *liveness.DeadlockError\nin %v", err, p)
	}
	before, number := p.before(), make(map[string]int)
	for i, task := range p.system.Tasks {
		number[task.Name] = i
	}
	for i, w := range deadlock.Cycle {
		next := deadlock.Cycle[(i+1)%len(deadlock.Cycle)]
		if w.For != next.Task || !before[number[w.For]][number[w.Task]] {
			t.Errorf("%s does not wait for %s\nin %v", w.Task, w.For, p)
		}
		if !strings.Contains(err.Error(), "\t"+w.Task+" waits to ") {
			t.Errorf("%s is not in %v", w.Task, err)
		}
	}
	checkIdle(t, rt)
	if stuck := len(p.tasks) - len(p.order()); deadlock.Stuck != stuck || len(deadlock.Cycle) == 0 {
		t.Errorf("%d stuck, want %d, in a cycle of %d\nin %v", deadlock.Stuck, stuck, len(deadlock.Cycle), p)
	}
}

// When a task fails, no other task does a round that it would not have done otherwise:
// every round that was done is one of the sequential program.
func TestFailureDisturbsNoRound(t *testing.T) {
	cut := 0
	for seed := range plans(t, 1) {
		p := drawPlan(seed)
		if len(p.order()) < len(p.tasks) {
			continue
		}
		want := p.sequential()
		culprit := int(mix(seed) % uint64(len(p.tasks)))
		if p.tasks[culprit].rounds == 0 {
			continue
		}
		p.tasks[culprit].end = fails + wayOut(seed%3)
		p.cut(culprit)
		seen := make([][]uint64, len(p.tasks))
		rt := p.declare(t, Options{}, func(i int) func(*Task, int) error {
			return p.body(i, &seen[i], noise(seed+uint64(i)))
		})
		checkFailed(t, p, rt.Run(context.Background()), culprit)
		checkIdle(t, rt)
		for i := range seen {
			if n := len(seen[i]); n > len(want.seen[i]) || !slices.Equal(seen[i], want.seen[i][:n]) {
				t.Fatalf("task %d: %v, want the beginning of %v\nin %v", i, seen[i], want.seen[i], p)
			}
			if len(seen[i]) < len(want.seen[i]) {
				cut++
			}
		}
	}
	if cut == 0 {
		t.Error("no task has been ended early")
	}
	t.Logf("%d tasks were ended early", cut)
}

// checkFailed checks that err is the failure that the plan asks for.
func checkFailed(t testing.TB, p *randomProgram, err error, culprit int) {
	t.Helper()
	want := errPlanned
	if p.tasks[culprit].end == exits {
		want = errExit
	}
	var task *taskError
	if !errors.As(err, &task) || task.Task != p.system.Tasks[culprit].Name || !errors.Is(err, want) {
		t.Fatalf("%v, want %v of task %d\nin %v", err, want, culprit, p)
	}
	var panicked *panicError
	if got := errors.As(err, &panicked); got != (p.tasks[culprit].end == panics) {
		t.Errorf("%v is a panic: %t", err, got)
	}
}
