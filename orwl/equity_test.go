package orwl

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

var ringRounds = rings.Size("orwl.rounds", 100, 250, 2500, "TestRingOfTenThousand: rounds of each task")

// ring declares n tasks. Each writes a resource of its own and reads its successor's. order is the tasks as they are declared.
func ring(rt *Runtime, n int, order []int, body func(i int, t *Task, own, next *Access)) {
	for i := range n {
		rt.Resource(fmt.Sprint(i), 8)
	}
	for _, i := range order {
		t := rt.Task(fmt.Sprint(i))
		own, next := t.Write(rt.Lookup(fmt.Sprint(i))), t.Read(rt.Lookup(fmt.Sprint((i+1)%n)))
		body(i, t, own, next)
	}
}

// inSteps are so many numbers: first those whose rest by step is 0, then 1, and so on.
func inSteps(n, step int) (order []int) {
	for rest := range step {
		for i := rest; i < n; i += step {
			order = append(order, i)
		}
	}
	return order
}

// No task gets ahead (paper, 2.0.1). An active task has done exactly as many rounds as
// its neighbours that come after it in the start order, and one less than those that
// come before it.
//
// The counters are ordinary variables. A task reads its neighbours' counters while it
// holds a resource that they need, so they do not change meanwhile. The race detector
// checks this, too.
func TestRingOfTenThousand(t *testing.T) {
	for _, c := range []struct {
		name    string
		colours int
		share   int // of the rounds
	}{
		// Each waits for its predecessor, and the first for the last: one at a time.
		{"one after another", 1, 50},
		// All even ones, then all odd ones.
		{"two colours", 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, rounds := 10_000, max(ringRounds.N()/c.share, 2)
			switch {
			case rings.Race: // takes a time for each step that grows with the tasks
				n, rounds = n/10, max(rounds/20, 2)
				t.Logf("%d tasks and %d rounds: the race detector", n, rounds)
			case testing.Short():
				rounds = max(rounds/20, 2)
				t.Logf("%d rounds: -short", rounds)
			}
			rt := mustNew(t, Options{})
			done := make([]int, n)
			ring(rt, n, inSteps(n, c.colours), func(i int, t *Task, own, next *Access) {
				before, after := (i+n-1)%n, (i+1)%n
				comes := func(j int) int { // how many rounds more j has done while i is active
					if a, b := j%c.colours, i%c.colours; a < b || a == b && j < i {
						return 1
					}
					return 0
				}
				ahead, behind := comes(before), comes(after)
				t.Each(rounds, func(round int) error {
					if done[before] != round+ahead || done[after] != round+behind {
						return fmt.Errorf("in round %d the neighbours have done %d and %d, want %d and %d",
							round, done[before], done[after], round+ahead, round+behind)
					}
					Write[uint64](own)[0] += Read[uint64](next).At(0)&1 + 1
					done[i]++
					return nil
				})
			})
			began := time.Now()
			if err := rt.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			t.Logf("%d rounds of %d tasks in %v: %.2f million a second", rounds, n, took.Round(time.Millisecond), float64(n*rounds)/took.Seconds()/1e6)
			for i, d := range done {
				if d != rounds {
					t.Fatalf("task %d has done %d rounds", i, d)
				}
			}
		})
	}
}

// lead is how many rounds each task can be ahead of each other at most. It is the
// cheapest way from one to the other by →: a step along → costs a round, a step against
// it nothing. far means that there is no way.
func (p *randomProgram) lead() [][]int {
	before := p.before()
	lead := make([][]int, len(before))
	for s := range lead {
		lead[s] = make([]int, len(before))
		for t := range lead[s] {
			switch {
			case s == t || before[t][s]:
			case before[s][t]:
				lead[s][t] = 1
			default:
				lead[s][t] = far
			}
		}
	}
	for m := range lead {
		for s := range lead {
			for t := range lead {
				lead[s][t] = min(lead[s][t], lead[s][m]+lead[m][t])
			}
		}
	}
	return lead
}

const far = 1 << 20

// drawEven draws a plan that lives, with the same number of rounds for each task.
func drawEven(seed uint64, rounds int) *randomProgram {
	for ; ; seed += 1 << 32 {
		p := drawPlan(seed)
		for i := range p.tasks {
			p.tasks[i] = taskPlan{rounds: rounds}
		}
		if len(p.order()) == len(p.tasks) {
			return p
		}
	}
}

// No task is ever further ahead of another than lead says, at any time.
func TestLead(t *testing.T) {
	for seed := range plans(t, 5) {
		const rounds = 40
		p := drawEven(seed, rounds)
		lead := p.lead()
		done := make([]atomic.Int64, len(p.tasks))
		rt := p.declare(t, Options{}, func(i int) func(*Task, int) error {
			between := noise(seed + uint64(i))
			return func(_ *Task, round int) error {
				between()
				for j := range done {
					ahead := int(done[j].Load()) - round
					if ahead > lead[j][i] || -ahead > lead[i][j] {
						return fmt.Errorf("task %d is %d ahead of task %d, want %d at most, and %d behind", j, ahead, i, lead[j][i], lead[i][j])
					}
				}
				between()
				done[i].Add(1)
				return nil
			}
		})
		if err := rt.Run(context.Background()); err != nil {
			t.Fatalf("%v\nin %v", err, p)
		}
	}
}

// The bound is reached if the other task takes its time: a task that has nothing to
// wait for does not wait.
func TestLeadIsReached(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // so many workers
	most := 0
	for seed := range plans(t, 5) {
		const rounds = 20
		p := drawEven(seed, rounds)
		slow := int(seed) % len(p.tasks)
		stopAt := int64(mix(seed) % 3)
		lead := p.lead()
		synctest.Test(t, func(t *testing.T) {
			done := make([]atomic.Int64, len(p.tasks))
			goOn := make(chan struct{})
			rt := p.declare(t, Options{Stall: -1}, func(i int) func(*Task, int) error {
				return func(_ *Task, round int) error {
					<-time.After(time.Millisecond) // of the bubble: a long body, so that other workers help
					if i == slow && int64(round) == stopAt {
						<-goOn
					}
					done[i].Add(1)
					return nil
				}
			})
			ran := make(chan error)
			go func() { ran <- rt.Run(context.Background()) }()
			<-time.After(time.Minute) // of the bubble: all that can happen has
			for j := range done {
				want := min(stopAt+int64(lead[j][slow]), rounds)
				if j != slow && want < rounds {
					most = max(most, lead[j][slow])
				}
				if got := done[j].Load(); got != want {
					t.Errorf("task %d has done %d rounds, want %d, while task %d is in round %d of\n%v", j, got, want, slow, stopAt, p)
				}
			}
			close(goOn)
			if err := <-ran; err != nil {
				t.Error(err)
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d rounds ahead at most", most)
}
