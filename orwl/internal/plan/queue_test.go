package plan

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// TestRealQueue plays random schedules of random systems on the queues of package resource: whatever
// a queue grants, the plan allows, and nothing else.
func TestRealQueue(t *testing.T) {
	rings.Computes(t)
	grants, waits := 0, 0
	for seed := range seeds.All() {
		g := randomGame(seed, most)
		if g.takesTurns() {
			continue // the plan may allow less
		}
		granted, waiting := g.walk(t, rand.New(rand.NewPCG(seed, 2)))
		if grants, waits = grants+granted, waits+waiting; t.Failed() {
			t.Fatalf("seed %d: %v", seed, g.system)
		}
	}
	if grants == 0 || waits == 0 {
		t.Errorf("%d grants, %d waits", grants, waits)
	}
}

// walk plays one schedule, and counts how often a task was granted its accesses, and how often not.
func (g *game) walk(t *testing.T, rng *rand.Rand) (granted, waiting int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	resources := make(map[string]*queue.Resource)
	for _, name := range g.resources() {
		r, err := queue.New(name, 8)
		must(err)
		resources[name] = r
	}
	places := make([][]queue.Place, len(g.system.Tasks))
	for task := range places {
		places[task] = make([]queue.Place, len(g.system.Tasks[task].Accesses))
	}
	for _, f := range g.system.Order() {
		if a := g.access(use{f.Task, f.Access}); g.last[f.Task] > 0 {
			must(places[f.Task][f.Access].Request(resources[a.Resource], a.Mode))
		}
	}
	s := state{at: make([]int, len(places)), empty: make([]int, g.plan.Counters())}
	for {
		var ready []int
		for task, steps := range g.steps {
			if s.at[task] == len(steps) {
				continue
			}
			step, byPlan := steps[s.at[task]], true
			byQueue := step.Op != liveness.Acquire || g.near(task, step.round, s.at[g.tasks[task].Ahead.Of])
			for _, a := range step.Accesses {
				if step.Op == liveness.Acquire {
					byQueue = byQueue && places[task][a].Granted()
					byPlan = byPlan && g.met(s, g.plan.Counter(task, a), step.round)
				}
			}
			if byQueue != byPlan {
				t.Errorf("after %v: task %d in round %d: the queues say %t, and the plan says %t", s.at, task, step.round, byQueue, byPlan)
				return granted, waiting
			}
			if byQueue {
				ready = append(ready, task)
			} else {
				waiting++
			}
		}
		if len(ready) == 0 {
			break // all have ended, or none can go on
		}
		task := ready[rng.IntN(len(ready))]
		step := g.steps[task][s.at[task]]
		for _, a := range step.Accesses {
			p := &places[task][a]
			switch {
			case step.Op == liveness.Acquire:
				must(p.Acquire(t.Context()))
				granted++
			case step.ends:
				must(p.Release())
			default:
				must(p.Renew())
			}
		}
		s.at[task]++
	}
	for task := range places {
		for a := range places[task] {
			_ = places[task][a].Abandon(errStops) // of a system that stops
		}
	}
	return granted, waiting
}

var errStops = errors.New("the system stops")
