package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// game is a program whose tasks end after some rounds. Queues and a plan play it side by side.
type game struct {
	system liveness.System
	tasks  []Task
	last   []int // how many rounds each task has in this game
	steps  [][]step

	plan  *Plan
	marks [][][]uint32 // by task and steps done: what its counters have published
	own   [][]int      // by task: its counters
}

// step is a step of a task in one of its rounds.
type step struct {
	liveness.Step
	round uint32
	ends  bool // it is the last round
}

// over is what a counter says that has ended, and whose task takes no empty turns.
const over = 1 << 20

// newGame has order(task, round) as the steps of a task that acquires its accesses one by one.
func newGame(s liveness.System, tasks []Task, last []int, most int, order func(task, round int) []liveness.Step) *game {
	return newGameBy(newPlan(describe(s, tasks), most), s, tasks, last, order)
}

// newGameBy is newGame with a plan of one or several nodes.
func newGameBy(p *Plan, s liveness.System, tasks []Task, last []int, order func(task, round int) []liveness.Step) *game {
	g := &game{system: s, tasks: tasks, last: last, plan: p}
	for t, task := range s.Tasks {
		var all []step
		for k := range last[t] {
			steps := order(t, k)
			if steps == nil {
				steps = stepsOf(task)
			}
			for _, each := range steps {
				all = append(all, step{each, uint32(k + 1), k == last[t]-1})
			}
		}
		g.steps = append(g.steps, all)
		g.mark(t)
	}
	return g
}

// stepsOf are the steps of a round.
func stepsOf(task liveness.Task) []liveness.Step {
	if len(task.Sequence) > 0 || len(task.Accesses) == 0 {
		return task.Sequence
	}
	var all []int
	for a := range task.Accesses {
		all = append(all, a)
	}
	return []liveness.Step{{Op: liveness.Acquire, Accesses: all}, {Op: liveness.Release, Accesses: all}}
}

// mark notes what the counters of a task have published after each of its steps.
func (g *game) mark(t int) {
	now := make([]uint32, g.plan.Counters())
	var own []int
	for a := range g.system.Tasks[t].Accesses {
		if c := g.plan.Counter(t, a); !slices.Contains(own, c) {
			own = append(own, c)
		}
	}
	for _, c := range own {
		if g.last[t] == 0 && g.plan.Turns(c) == 0 {
			now[c] = over
		}
	}
	marks := [][]uint32{slices.Clone(now)}
	for _, s := range g.steps[t] {
		if s.Op == liveness.Release {
			for _, a := range s.Accesses {
				c := g.plan.Counter(t, a)
				if now[c] = s.round; s.ends && s.round >= g.plan.Turns(c) {
					now[c] = over
				}
			}
		}
		marks = append(marks, slices.Clone(now))
	}
	g.marks, g.own = append(g.marks, marks), append(g.own, own)
}

// withoutTurns lets no counter take an empty turn.
func (g *game) withoutTurns() {
	clear(g.plan.turns)
	g.marks, g.own = nil, nil
	for t := range g.system.Tasks {
		g.mark(t)
	}
}

// state is how far both are.
type state struct {
	at     []int   // the steps that each task has done
	empty  []int   // by counter: empty turns
	queues [][]use // by resource, in the order in which the system names them
}

// use is a request of an access.
type use struct{ task, access int }

func (s state) key() string {
	b := make([]byte, 0, 64)
	for _, n := range s.at {
		b = append(b, byte(n))
	}
	for _, n := range s.empty {
		b = append(b, byte(n))
	}
	for _, q := range s.queues {
		b = append(b, 255)
		for _, u := range q {
			b = append(b, byte(u.task<<4|u.access))
		}
	}
	return string(b)
}

func (s state) clone() state {
	c := state{at: slices.Clone(s.at), empty: slices.Clone(s.empty)}
	for _, q := range s.queues {
		c.queues = append(c.queues, slices.Clone(q))
	}
	return c
}

// resources are the names of all resources.
func (g *game) resources() (names []string) {
	for _, t := range g.system.Tasks {
		for _, a := range t.Accesses {
			if !slices.Contains(names, a.Resource) {
				names = append(names, a.Resource)
			}
		}
	}
	return names
}

func (g *game) access(u use) liveness.Access { return g.system.Tasks[u.task].Accesses[u.access] }

// begin is the state after the first requests.
func (g *game) begin(names []string) state {
	s := state{at: make([]int, len(g.system.Tasks)), empty: make([]int, g.plan.Counters()), queues: make([][]use, len(names))}
	for _, f := range g.system.Order() {
		if g.last[f.Task] > 0 {
			u := use{f.Task, f.Access}
			r := slices.Index(names, g.access(u).Resource)
			s.queues[r] = append(s.queues[r], u)
		}
	}
	return s
}

// granted reports whether the queue of a resource grants an access.
func (g *game) granted(q []use, u use) bool {
	for i, other := range q {
		if other == u {
			return i == 0 || g.access(u).Mode == queue.Read
		}
		if g.access(other).Mode == queue.Write {
			return false
		}
	}
	panic("an access without a request")
}

// near reports whether round k of a task is not too far ahead of another one that has done so many steps: what Ahead
// specifies.
func (g *game) near(task int, k uint32, steps int) bool {
	a := g.tasks[task].Ahead
	if a == (Ahead{}) || steps == len(g.steps[a.Of]) {
		return true // the other one has ended
	}
	return k <= g.steps[a.Of][steps].round-1+uint32(a.Most)
}

// done is what a counter has published.
func (g *game) done(s state, counter int) uint32 {
	var n uint32
	for t := range g.marks {
		n = max(n, g.marks[t][s.at[t]][counter])
	}
	if n += uint32(s.empty[counter]); s.empty[counter] > 0 && n >= g.plan.Turns(counter) {
		return over
	}
	return n
}

// met reports whether the conditions of a counter are met in round k.
func (g *game) met(s state, counter int, k uint32) bool {
	for _, c := range g.plan.When(counter) {
		if !c.Met(k, g.done(s, c.Counter())) {
			return false
		}
	}
	return true
}

// report is what a game has seen.
type report struct {
	states   int
	deadlock bool
	differ   error // where queues and plan do not allow the same
}

// play visits all states. With empty turns the plan may allow less than the queues, and must
// never allow more. If the system passes Check, it must go on as long as they do.
func (g *game) play() (r report) {
	names := g.resources()
	first := g.begin(names)
	seen := map[string]bool{first.key(): true}
	todo := []state{first}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		r.states++
		visit := func(next state) {
			if k := next.key(); !seen[k] {
				seen[k] = true
				todo = append(todo, next)
			}
		}
		moves, left, late := 0, false, false
		for t, steps := range g.steps {
			if s.at[t] == len(steps) {
				continue
			}
			left = true
			step := steps[s.at[t]]
			if step.Op == liveness.Acquire {
				byQueue, byPlan := g.near(t, step.round, s.at[g.tasks[t].Ahead.Of]), true
				for _, a := range step.Accesses {
					u := use{t, a}
					byQueue = byQueue && g.granted(s.queues[slices.Index(names, g.access(u).Resource)], u)
					byPlan = byPlan && g.met(s, g.plan.Counter(t, a), step.round)
				}
				if byPlan && !byQueue || byQueue && !byPlan && !g.takesTurns() {
					r.differ = fmt.Errorf("in state %v: task %d in round %d: the queues say %t, and the plan says %t", s, t, step.round, byQueue, byPlan)
					return r
				}
				if !byPlan {
					late = late || byQueue
					continue
				}
			}
			next := s.clone()
			next.at[t]++
			if step.Op == liveness.Release {
				for _, a := range step.Accesses {
					u := use{t, a}
					i := slices.Index(names, g.access(u).Resource)
					if q := &next.queues[i]; !step.ends {
						*q = append(*q, u) // requested again before it is released
					}
					at := slices.Index(next.queues[i], u)
					next.queues[i] = slices.Delete(next.queues[i], at, at+1)
				}
			}
			moves++
			visit(next)
		}
		for t := range g.own {
			for _, c := range g.own[t] {
				if left && s.at[t] == len(g.steps[t]) && g.done(s, c) < min(g.plan.Turns(c), 4) && g.met(s, c, g.done(s, c)+1) {
					next := s.clone()
					next.empty[c]++
					moves++
					visit(next)
				}
			}
		}
		if left && moves == 0 {
			if r.deadlock = true; late && g.passes() {
				r.differ = fmt.Errorf("in state %v: the plan stops, and the queues do not", s)
				return r
			}
		}
	}
	return r
}

// passes reports whether the tasks that have rounds go round for ever.
func (g *game) passes() bool {
	var s liveness.System
	for t, task := range g.system.Tasks {
		if g.tasks[t].Rounds != 0 {
			s.Tasks = append(s.Tasks, task)
		}
	}
	return s.Check() == nil
}

// takesTurns reports whether a task of the game takes empty turns.
func (g *game) takesTurns() bool {
	for t := range g.own {
		for _, c := range g.own[t] {
			if uint32(g.last[t]) < g.plan.Turns(c) {
				return true
			}
		}
	}
	return false
}

// canonical has no steps of its own.
func canonical(int, int) []liveness.Step { return nil }

// oneByOne are steps that acquire and release each access once, in a random order.
func oneByOne(rng *rand.Rand, accesses int) (steps []liveness.Step) {
	idle, held := rng.Perm(accesses), []int(nil)
	for len(idle)+len(held) > 0 {
		if len(idle) > 0 && (len(held) == 0 || rng.IntN(2) == 0) {
			held = append(held, idle[0])
			steps = append(steps, liveness.Step{Op: liveness.Acquire, Accesses: idle[:1]})
			idle = idle[1:]
			continue
		}
		i := rng.IntN(len(held))
		steps = append(steps, liveness.Step{Op: liveness.Release, Accesses: []int{held[i]}})
		held = slices.Delete(held, i, i+1)
	}
	return steps
}

// endsEarly reports whether a task has no round that the plan expects.
func (g *game) endsEarly() bool {
	for t, task := range g.tasks {
		if task.Rounds != 0 && g.last[t] == 0 {
			return true
		}
	}
	return false
}
