package plan

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// Ratio is a time in so many rounds.
type Ratio struct{ Time, Rounds int64 }

// Period is the time of one round.
func (r Ratio) Period() float64 { return float64(r.Time) / float64(r.Rounds) }

// less reports whether r is less than time in so many rounds. Both may be below zero: then they are
// what one path has more than another.
func (r Ratio) less(time, rounds int64) bool {
	return product(rounds, r.Time).less(product(time, r.Rounds))
}

// wide is a number of 128 bits.
type wide struct {
	high int64
	low  uint64
}

// product is x times y, and only x may be below zero.
func product(x, y int64) wide {
	high, low := bits.Mul64(uint64(x), uint64(y))
	if x < 0 { // taken for 2^64 more
		high -= uint64(y)
	}
	return wide{int64(high), low}
}

func (w wide) less(x wide) bool { return w.high < x.high || w.high == x.high && w.low < x.low }

// Period is the least time of a round that any number of workers can reach, if a round of task t
// takes times[t]. It is the greatest mean of a circle: tasks that wait for each other take Time
// together, and come back to the first one after so many rounds. The second result is such a circle.
// Each of its tasks waits for the one before it, and the first one waits for the last. A task may
// stand alone: its rounds follow each other. Without tasks there is no circle, and the Ratio is 0 in
// one round.
//
//	     round k        round k+1
//	a ──▶ b ──┐    ┌──▶ a ──▶ b      b waits for a of its round, a waits for b of the round before:
//	          └────┘                 the period is the time of a plus the time of b
//
// The bound holds while all tasks of the circle have rounds left. Let times[t] be 0 for a task that
// has none.
//
// A task with several counters acquires and releases its accesses one by one. The plan does not know
// which part of its time lies before an acquire, and which one behind a release. So the bound assumes
// nothing: the whole time counts from one end of a round to the next, which is the circle of the task
// alone. In a circle with others such a task counts as no time. A bound that counted all of it between
// the acquire and the release of each access would be too great: where a task holds two accesses one
// after the other, it would count its time twice.
//
// The system must be alive, and all times together at most half of what an int64 holds.
//
// # Algorithm
//
// This is Howard's policy iteration for the greatest ratio of a circle, after A. Dasdan, "Experimental
// analysis of the fastest optimum cycle ratio and mean algorithms", ACM TODAES 9(4), 2004, in exact
// numbers. Each counter has a policy: the condition that is met last. A path of policies has a value,
// its time minus the best ratio so far for each of its rounds. A pass gives each counter a better policy
// where there is one. A circle of policies has a greater ratio than the best one so far, and takes its
// place. If a pass changes nothing, the values prove that no circle is better. A pass is linear. No good
// limit is known for the number of passes; stencils need a few.
func (p *Plan) Period(times []int64) (Ratio, []int) {
	if tasks := len(p.own) - 1; len(times) != tasks {
		panic(fmt.Sprintf("plan: %d tasks, and %d times", tasks, len(times)))
	}
	if len(times) == 0 {
		return Ratio{0, 1}, nil
	}
	longest, all := 0, int64(0)
	for t, time := range times {
		if time < 0 || time > math.MaxInt64/2-all {
			panic(fmt.Sprintf("plan: task %d takes %d, and those before it %d: want 0 or more, and at most %d together", t, time, all, math.MaxInt64/2))
		}
		all += time
		if time > times[longest] {
			longest = t
		}
	}
	g := newCircuits(p, times)
	g.best, g.circle = Ratio{times[longest], 1}, nil
	for g.improve() {
		g.settle()
	}
	if g.circle == nil {
		return g.best, []int{longest}
	}
	return g.best, g.tasks()
}

// circuits is the search for the greatest ratio. Its nodes are the counters of a plan, and the end of
// the round of each task that has several counters.
type circuits struct {
	task  []uint32 // by node
	time  []int64  // by node: what it takes after its last condition
	begin []uint32 // by node: its first condition; and the end of the last one
	when  []Condition
	order []uint32 // the nodes, each one behind those that it waits for in its own round

	policy []Condition // by node: the condition that is met last, or free
	path   []Ratio     // by node: the time and the rounds of its path of policies
	seen   []uint32    // by node: the walk of this settle that has come by
	best   Ratio
	// circle is the nodes of the best one, each with the lag of what it waits for. Each node waits for
	// the next one.
	circle []Condition
}

// free is the policy of a node that waits for nothing.
const free = Condition(math.MaxUint32)

func newCircuits(p *Plan, times []int64) *circuits {
	g := &circuits{when: make([]Condition, 0, len(p.when)), begin: make([]uint32, 1, p.counters+1)}
	end := make([]uint32, len(times)) // by task: the node of its end, if it has several counters
	ends := uint32(p.counters)
	for t, time := range times {
		counters := p.countersOf(t)
		if counters > 1 {
			end[t], time = ends, 0
			ends++
		}
		for range counters {
			g.task, g.time = append(g.task, uint32(t)), append(g.time, time)
		}
	}
	for c, t := range g.task {
		g.when = append(g.when, p.When(c)...)
		if end[t] > 0 { // the round before has ended
			g.when = append(g.when, condition(end[t], 1))
		}
		g.begin = append(g.begin, uint32(len(g.when)))
	}
	next := 0 // the first counter of the next task
	for t := range times {
		first := next
		next += p.countersOf(t)
		if end[t] == 0 {
			continue
		}
		for c := first; c < next; c++ {
			g.when = append(g.when, condition(uint32(c), 0))
		}
		g.task, g.time, g.begin = append(g.task, uint32(t)), append(g.time, 0), append(g.begin, uint32(len(g.when)))
	}
	n := len(g.task)
	g.policy, g.path, g.seen = slices.Repeat([]Condition{free}, n), make([]Ratio, n), make([]uint32, n)
	g.sort()
	return g
}

func (g *circuits) waits(u uint32) []Condition { return g.when[g.begin[u]:g.begin[u+1]] }

// sort makes the order. A pass in this order takes a time through all nodes of a round.
func (g *circuits) sort() {
	at := slices.Clone(g.begin) // by node: its next condition
	open, sorted := make([]bool, len(g.task)), make([]bool, len(g.task))
	for root := range g.task {
		walk := []uint32{uint32(root)}
		for len(walk) > 0 {
			u := walk[len(walk)-1]
			switch {
			case sorted[u]:
				walk = walk[:len(walk)-1]
			case at[u] == g.begin[u+1]:
				sorted[u], g.order = true, append(g.order, u)
			default:
				open[u] = true
				c := g.when[at[u]]
				at[u]++
				if v := c.Counter(); c.Lag() == 0 && !sorted[v] {
					if open[v] {
						panic(fmt.Sprintf("plan: task %d waits for itself in one round: the system is not alive", g.task[v]))
					}
					walk = append(walk, uint32(v))
				}
			}
		}
	}
}

// improve gives each node a better policy where there is one.
func (g *circuits) improve() (better bool) {
	for _, u := range g.order {
		for _, c := range g.waits(u) {
			path := g.path[c.Counter()].and(g.time[u], c.Lag())
			if g.best.less(path.Time-g.path[u].Time, path.Rounds-g.path[u].Rounds) {
				g.policy[u], g.path[u], better = c, path, true
			}
		}
	}
	return better
}

func (r Ratio) and(time int64, rounds uint32) Ratio {
	return Ratio{r.Time + time, r.Rounds + int64(rounds)}
}

// settle finds the circles of policies and keeps the best one. It cuts each of them, so that all paths
// have an end, and finds what they are worth.
func (g *circuits) settle() {
	clear(g.seen)
	nodes := make([]uint32, len(g.task))
	for root := range nodes {
		this, u, walk := uint32(root)+1, uint32(root), nodes[:0]
		for g.seen[u] == 0 && g.policy[u] != free {
			g.seen[u] = this
			walk = append(walk, u)
			u = uint32(g.policy[u].Counter())
		}
		if g.seen[u] == this {
			g.close(u)
			g.policy[u], g.path[u] = free, Ratio{}
		}
		for _, u := range slices.Backward(walk) {
			if c := g.policy[u]; c != free {
				g.path[u] = g.path[c.Counter()].and(g.time[u], c.Lag())
			}
		}
	}
}

// close keeps the circle of policies through a node, if it is the best one.
func (g *circuits) close(node uint32) {
	var circle []Condition
	var r Ratio
	for u := node; len(circle) == 0 || u != node; {
		c := g.policy[u]
		circle, r = append(circle, condition(u, c.Lag())), r.and(g.time[u], c.Lag())
		u = uint32(c.Counter())
	}
	invariant.Check(r.Rounds > 0, "a circle of %d nodes within a round", len(circle))
	if g.best.less(r.Time, r.Rounds) {
		g.best, g.circle = r, circle
	}
}

// tasks are the tasks of the best circle. The first one waits for a round before. A task with several
// counters has several nodes in a row.
func (g *circuits) tasks() (tasks []int) {
	slices.Reverse(g.circle)
	first := slices.IndexFunc(g.circle, func(c Condition) bool { return c.Lag() > 0 })
	circle := slices.Concat(g.circle[first:], g.circle[:first])
	before := g.task[circle[len(circle)-1].Counter()]
	for _, c := range circle {
		t := g.task[c.Counter()]
		if t != before {
			tasks = append(tasks, int(t))
		}
		before = t
	}
	return tasks
}
