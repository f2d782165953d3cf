package plan

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// Small systems. The circle is in the order of time.
func TestPeriod(t *testing.T) {
	for _, row := range []struct {
		name   string
		queues string
		times  []int64
		period Ratio
		circle []int
	}{
		{"two writers take turns", "W0 W1", []int64{4, 9}, Ratio{13, 1}, []int{0, 1}},
		{"their start order is another", "W1 W0", []int64{4, 9}, Ratio{13, 1}, []int{1, 0}},
		{"two readers do not wait", "R0 R1", []int64{4, 9}, Ratio{9, 1}, []int{1}},
		{"the slower one of two readers", "W0 R1 R2", []int64{1, 5, 7}, Ratio{8, 1}, []int{0, 2}},
		{"three writers", "W0 W1 W2", []int64{1, 2, 4}, Ratio{7, 1}, []int{0, 1, 2}},
		{"a pipeline: the slowest neighbours", "W0 R1|W1 R2|W2 R3", []int64{5, 2, 6, 1}, Ratio{8, 1}, []int{1, 2}},
		{"a pipeline: one stage is slow", "W0 R1|W1 R2|W2 R3", []int64{1, 0, 6, 0}, Ratio{6, 1}, []int{2}},
		{"a ring declared backwards", "R1 W0|R2 W1|W2 R0", []int64{3, 3, 3}, Ratio{9, 1}, []int{2, 1, 0}},
		{"a circle of two rounds", "W0 R1|R2 W1|W2 R0", []int64{3, 3, 3}, Ratio{9, 1}, []int{2, 0, 1}},
		{"five at a table: two may work at a time", "W0 W1|W2 W1|W2 W3|W4 W3|W0 W4", []int64{1, 1, 1, 1, 1}, Ratio{5, 2}, []int{2, 1, 0, 4, 3}},
		{"no time", "W0 W1", []int64{0, 0}, Ratio{0, 1}, []int{0}},
		{"much time", "W0 W1", []int64{math.MaxInt64 / 4, math.MaxInt64 / 4}, Ratio{math.MaxInt64 / 4 * 2, 1}, []int{0, 1}},
	} {
		s := systemOf(strings.Split(row.queues, "|")...)
		p := OfSystem(s, rounds(slices.Repeat([]int{7}, len(s.Tasks))...))
		period, circle := p.Period(row.times)
		if period != row.period || !slices.Equal(circle, row.circle) {
			t.Errorf("%s: %v of %v, want %v of %v", row.name, period, circle, row.period, row.circle)
		}
	}
	if period, circle := OfSystem(liveness.System{}, nil).Period(nil); period != (Ratio{0, 1}) || circle != nil {
		t.Errorf("no tasks: %v of %v", period, circle)
	}
	if each := (Ratio{25, 2}).Period(); each != 12.5 {
		t.Errorf("25 in 2 rounds: %v a round", each)
	}
}

// A task that acquires one by one holds two resources, one after the other. The time of its body
// counts once in a round, wherever it lies.
func TestPeriodOneByOne(t *testing.T) {
	s := systemOf("W0 W1", "W0 W2")
	for _, row := range []struct {
		apart  bool
		times  []int64
		period Ratio
		circle []int
	}{
		{false, []int64{10, 3, 4}, Ratio{14, 1}, []int{0, 2}},
		{true, []int64{10, 3, 4}, Ratio{10, 1}, []int{0}},
		{true, []int64{0, 3, 4}, Ratio{4, 1}, []int{2}},
	} {
		tasks := rounds(9, 9, 9)
		tasks[0].Apart = row.apart
		if period, circle := OfSystem(s, tasks).Period(row.times); period != row.period || !slices.Equal(circle, row.circle) {
			t.Errorf("%+v: %v of %v", row, period, circle)
		}
	}
	// A ring of seven tasks. The last one holds what it shares with the task before, or what it shares with
	// the first task. So the ring goes round once in two rounds, through the end of its round. Task 0 has
	// no part in it.
	s = systemOf("R0", "R0", "W1 W2", "W2 W3", "W3 W4", "W4 W5", "W5 W6", "W6 W7", "W1 W7")
	tasks := rounds(9, 9, 9, 9, 9, 9, 9, 9)
	tasks[0].Apart = true
	for rounds, want := range []Ratio{{7, 1}, {6, 2}} {
		tasks[7].Apart = rounds > 0
		period, circle := OfSystem(s, tasks).Period([]int64{1, 1, 1, 1, 1, 1, 1, 1})
		if period != want || !slices.Equal(circle, []int{1, 2, 3, 4, 5, 6, 7}) {
			t.Errorf("%v of %v, want %v", period, circle, want)
		}
	}
}

func TestPeriodMisuse(t *testing.T) {
	alive := OfSystem(systemOf("W0 W1"), rounds(2, 2))
	stuck := OfSystem(systemOf("W0 W1", "W1 W0"), rounds(2, 2))
	for want, f := range map[string]func(){
		"<nil>":                      func() { alive.Period([]int64{math.MaxInt64/2 - 1, 1}) },
		"plan: 2 tasks, and 1 times": func() { alive.Period([]int64{1}) },
		"plan: task 1 takes -1, and those before it 1: want 0 or more":  func() { alive.Period([]int64{1, -1}) },
		"plan: task 1 takes 4611686018427387903, and those before it 1": func() { alive.Period([]int64{1, math.MaxInt64 / 2}) },
		"waits for itself in one round: the system is not alive":        func() { stuck.Period([]int64{1, 1}) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}()
			f()
		}()
	}
}

// waits is the specification of what waits: nodes, and between them all conflicts of the system and
// the rounds of each task. A node is a task that holds all at once, or an access or the end of the
// round of another task.
type waits struct {
	node [][]int // by task and access
	task []int   // by node
	lag  []map[int]int64
	time [][]int64 // by node and the node that it waits for
}

func waitsOf(s liveness.System, tasks []Task, apart func(task int) bool, times []int64) *waits {
	w := &waits{}
	add := func(t int) int {
		w.task, w.lag = append(w.task, t), append(w.lag, map[int]int64{})
		return len(w.task) - 1
	}
	alone := make(map[int]int64) // by node: the time from one of its rounds to the next
	inner := make(map[int]int64)
	for t, task := range s.Tasks {
		w.node = append(w.node, make([]int, len(task.Accesses)))
		end := add(t)
		alone[end] = times[t]
		w.lag[end][end] = 1
		if !apart(t) {
			inner[end] = times[t]
		}
		for a := range task.Accesses {
			w.node[t][a] = end
			if apart(t) {
				n := add(t)
				w.node[t][a], w.lag[n][end], w.lag[end][n] = n, 1, 0
			}
		}
	}
	behind := make(map[string][]liveness.First)
	for _, y := range s.Order() {
		access := s.Tasks[y.Task].Accesses[y.Access]
		for _, x := range behind[access.Resource] {
			before, after := w.node[x.Task][x.Access], w.node[y.Task][y.Access]
			if s.Tasks[x.Task].Accesses[x.Access].Mode == queue.Write || access.Mode == queue.Write {
				w.lag[after][before] = 0
				if _, known := w.lag[before][after]; !known {
					w.lag[before][after] = 1
				}
			}
		}
		behind[access.Resource] = append(behind[access.Resource], y)
	}
	for t, task := range tasks {
		if a := task.Ahead; a.Most > 0 && a.Of != t {
			u, v := w.node[t][0], w.node[a.Of][0]
			if lag, known := w.lag[u][v]; !known || lag > int64(a.Most) {
				w.lag[u][v] = int64(a.Most)
			}
		}
	}
	w.time = make([][]int64, len(w.task))
	for u := range w.task {
		w.time[u] = slices.Repeat([]int64{inner[u]}, len(w.task))
		w.time[u][u] = alone[u]
	}
	return w
}

// greatest is the greatest ratio of all simple circles.
func (w *waits) greatest() *big.Rat {
	best := big.NewRat(0, 1)
	on := make([]bool, len(w.task))
	var search func(first, u int, time, rounds int64)
	search = func(first, u int, time, rounds int64) {
		on[u] = true
		for v, lag := range w.lag[u] {
			switch time, rounds := time+w.time[u][v], rounds+lag; {
			case v == first:
				if r := big.NewRat(time, rounds); r.Cmp(best) > 0 {
					best = r
				}
			case v > first && !on[v]:
				search(first, v, time, rounds)
			}
		}
		on[u] = false
	}
	for first := range w.task {
		search(first, first, 0, 0)
	}
	return best
}

// is complains if a circle of tasks that hold all at once does not have the ratio.
func (w *waits) is(circle []int, r Ratio) error {
	var time, rounds int64
	for i, t := range circle {
		before := circle[(i+len(circle)-1)%len(circle)]
		u, v := slices.Index(w.task, t), slices.Index(w.task, before)
		lag, does := w.lag[u][v]
		if !does {
			return fmt.Errorf("task %d does not wait for task %d in %v", t, before, circle)
		}
		time, rounds = time+w.time[u][v], rounds+lag
	}
	if (Ratio{time, rounds}) != r {
		return fmt.Errorf("%v takes %d in %d rounds, not %v", circle, time, rounds, r)
	}
	return nil
}

// played is how a system is played with as many workers as tasks: each step is done as soon as it may be.
type played struct {
	system liveness.System
	tasks  []Task
	steps  [][]liveness.Step // by task
	pause  [][]int64         // by task and step: the time after it
}

// ends plays rounds and returns when the last task ends each of them.
func (p *played) ends(rounds int) []int64 {
	type conflict struct {
		on    liveness.First
		round int // 0 is this one, and 1 the one before
	}
	conflicts := make(map[liveness.First][]conflict)
	order := p.system.Order()
	at := func(f liveness.First) liveness.Access { return p.system.Tasks[f.Task].Accesses[f.Access] }
	for i, x := range order {
		for _, y := range order[i+1:] {
			if at(x).Resource == at(y).Resource && (at(x).Mode == queue.Write || at(y).Mode == queue.Write) {
				conflicts[y] = append(conflicts[y], conflict{x, 0})
				conflicts[x] = append(conflicts[x], conflict{y, 1})
			}
		}
	}
	released := [2]map[liveness.First]int64{{}, {}} // in this round, and in the one before
	ended := make([]int64, len(p.steps))
	all := make([]int64, 0, rounds)
	each := [][]int64{ended} // by round, from 1
	for round := 1; round <= rounds; round++ {
		released[0], released[1] = make(map[liveness.First]int64, len(order)), released[0]
		now := make([]int64, len(p.steps))
		for changed := true; changed; {
			changed = false
			for t, steps := range p.steps {
				time := ended[t]
				if a := p.tasks[t].Ahead; a.Most > 0 && round > a.Most {
					time = max(time, each[round-a.Most][a.Of])
				}
				for i, step := range steps {
					for _, a := range step.Accesses {
						f := liveness.First{Task: t, Access: a}
						if step.Op == liveness.Acquire {
							for _, c := range conflicts[f] {
								time = max(time, released[c.round][c.on])
							}
						} else if before, known := released[0][f]; !known || before != time {
							released[0][f], changed = time, true
						}
					}
					time += p.pause[t][i]
				}
				now[t] = time
			}
		}
		ended, each = now, append(each, now)
		all = append(all, slices.Max(ended))
	}
	return all
}

// TestPeriodOfRandom compares the bound with all simple circles, and with what workers without number
// reach: exactly that, where the tasks hold all at once, and never less.
func TestPeriodOfRandom(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	several, reached, rows := 0, 0, 0
	tried := 0
	for seed := range seeds.Part(1, rings.Of(1, 4, 16)) {
		rng := rand.New(rand.NewPCG(seed, 8))
		s, tasks, _, _ := randomTasks(rng, 2+rng.IntN(3), 1+rng.IntN(3), true, seed%2 == 0)
		atOnce := seed%3 > 0
		if atOnce || seed%4 == 0 {
			s, tasks = sparse(rng, 3+rng.IntN(5))
			if atOnce {
				drawAhead(rng, s, tasks)
			}
		}
		for i := range tasks {
			tasks[i].Apart = tasks[i].Apart || !atOnce && rng.IntN(4) == 0
		}
		if s.Check() != nil {
			continue
		}
		times, least := make([]int64, len(tasks)), rng.Int64N(10)
		for i := range times {
			times[i] = least + rng.Int64N(3)
		}
		apart := func(t int) bool {
			return len(s.Tasks[t].Accesses) > 1 && (tasks[t].Apart || len(s.Tasks[t].Sequence) > 2)
		}
		want := waitsOf(s, tasks, apart, times)
		period, circle := OfSystem(s, tasks).Period(times)
		if got := big.NewRat(period.Time, period.Rounds); got.Cmp(want.greatest()) != 0 {
			t.Fatalf("seed %d: %v of %v, want %v, times %v\n%v", seed, period, circle, want.greatest(), times, s)
		}
		if err := want.is(circle, period); atOnce && err != nil {
			t.Fatalf("seed %d: %v, times %v\n%v", seed, err, times, s)
		}
		if period.Rounds > 1 {
			several++
		}
		for i := range tasks {
			tasks[i].Rounds = Open // keeps all conditions
		}
		for _, most := range []int{most, 0} {
			if all, _ := newPlan(describe(s, tasks), most).Period(times); big.NewRat(all.Time, all.Rounds).Cmp(big.NewRat(period.Time, period.Rounds)) != 0 {
				t.Fatalf("seed %d: %v with all conditions, %v with the nearest\n%v", seed, all, period, s)
			}
		}

		if tried++; tried > rings.Of(4000, 1000, 4000) {
			continue // a play takes 2 ms
		}
		const transient, cycle = 400, 840 // 840 is a multiple of all numbers of tasks
		ends := play(rng, s, tasks, times).ends(transient + cycle)
		took, bound := ends[len(ends)-1], int64(len(ends))/period.Rounds*period.Time
		if took < bound {
			t.Fatalf("seed %d: %d rounds took %d, and cannot take less than %d\n%v", seed, len(ends), took, bound, s)
		}
		rows++
		exact := (took-ends[transient-1])*period.Rounds == cycle*period.Time
		if exact {
			reached++
		} else if atOnce {
			t.Fatalf("seed %d: %d rounds took %d, want %v a round, times %v\n%v", seed, cycle, took-ends[transient-1], period, times, s)
		}
	}
	if several == 0 {
		t.Error("no system has a circle of several rounds")
	}
	t.Logf("%d of %d systems reach the bound, and %d have a circle of several rounds", reached, rows, several)
}

// sparse draws n tasks that hold some of n resources at once: one to three, or those beside their place
// at a table. There a circle of several rounds may be the best.
func sparse(rng *rand.Rand, n int) (s liveness.System, tasks []Task) {
	table, priorities := rng.IntN(2) == 0, 1+99*rng.IntN(2)
	for t := range n {
		task := liveness.Task{Name: fmt.Sprint("t", t)}
		uses := rng.Perm(n)[:1+rng.IntN(3)]
		if table {
			uses = []int{t, (t + 1) % n}
		}
		for _, r := range uses {
			task.Accesses = append(task.Accesses, liveness.Access{
				Resource: fmt.Sprint("r", r), Mode: queue.Mode(1 - rng.IntN(4)/3), Priority: rng.IntN(priorities)})
		}
		s.Tasks, tasks = append(s.Tasks, task), append(tasks, Task{Rounds: 2})
	}
	return s, tasks
}

// play divides the times of tasks that acquire one by one in any way.
func play(rng *rand.Rand, s liveness.System, tasks []Task, times []int64) *played {
	p := &played{system: s, tasks: tasks}
	for i, task := range s.Tasks {
		steps := stepsOf(task)
		if tasks[i].Apart {
			steps = task.Sequence
			if len(steps) == 0 {
				steps = oneByOne(rng, len(task.Accesses))
			}
		}
		if len(task.Accesses) == 0 {
			steps = []liveness.Step{{}}
		}
		pause := make([]int64, len(steps))
		if len(steps) <= 2 {
			pause[0] = times[i]
		} else {
			for range times[i] {
				pause[rng.IntN(len(steps))]++
			}
		}
		p.steps, p.pause = append(p.steps, steps), append(p.pause, pause)
	}
	return p
}

// Times so great that products of them need 128 bits.
func TestPeriodOfGreatTimes(t *testing.T) {
	rings.Computes(t)
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		s, tasks := sparse(rng, 6)
		if s.Check() != nil {
			continue
		}
		times := make([]int64, len(tasks))
		for i := range times {
			times[i] = math.MaxInt64/12 - rng.Int64N(5)
		}
		period, circle := OfSystem(s, tasks).Period(times)
		want := waitsOf(s, tasks, func(int) bool { return false }, times).greatest()
		if big.NewRat(period.Time, period.Rounds).Cmp(want) != 0 {
			t.Fatalf("seed %d: %v of %v, want %v\n%v", seed, period, circle, want, s)
		}
	}
}

// After each settle no circle of policies is left, and a path is worth what its nodes are.
func TestPeriodSettles(t *testing.T) {
	circles := 0
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 10))
		s, tasks := sparse(rng, 6)
		if s.Check() != nil {
			continue
		}
		times := []int64{9, 8, 9, 9, 8, 9}
		g := newCircuits(OfSystem(s, tasks), times)
		for g.best = (Ratio{9, 1}); g.improve(); {
			before := g.best
			if g.settle(); before.less(g.best.Time, g.best.Rounds) {
				circles++
			} else if before != g.best {
				t.Fatalf("seed %d: %v is best, and %v was before", seed, g.best, before)
			}
			for u := range g.task {
				path := Ratio{}
				for v, steps := u, 0; g.policy[v] != free; v, steps = g.policy[v].Counter(), steps+1 {
					if steps == len(g.task) {
						t.Fatalf("seed %d: the policies of node %d go round in\n%v", seed, u, s)
					}
					path = path.and(g.time[v], g.policy[v].Lag())
				}
				if path != g.path[u] {
					t.Fatalf("seed %d: the path of node %d is %v, want %v in\n%v", seed, u, g.path[u], path, s)
				}
			}
		}
	}
	if circles == 0 {
		t.Error("no circle was cut")
	}
	// If there are two circles at once, the better one counts.
	g := newCircuits(OfSystem(systemOf("W0 W1", "W2 W3"), rounds(2, 2, 2, 2)), []int64{9, 9, 5, 9})
	for g.best = (Ratio{9, 1}); g.circle == nil && g.improve(); {
		g.settle()
	}
	if g.best != (Ratio{18, 1}) {
		t.Errorf("%v is best", g.best)
	}
}

// BenchmarkPeriod finds the bound of stencils: rings and squares, with times that are alike or not.
func BenchmarkPeriod(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for _, shape := range []struct {
			name string
			make func(int) (liveness.System, []Task)
		}{{"ring", ring}, {"square", square}, {"hub", hub}} {
			s, tasks := shape.make(n)
			p := OfSystem(s, tasks)
			for _, spread := range []int64{1, 100, 1_000_000} {
				rng := rand.New(rand.NewPCG(1, 1))
				times := make([]int64, len(tasks))
				for i := range times {
					times[i] = 1000 + rng.Int64N(spread)
				}
				b.Run(fmt.Sprintf("%s-%d-%d", shape.name, n, spread), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						p.Period(times)
					}
					b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// square is about n tasks in a square. Each writes its own resource, and reads its four neighbours' resources.
func square(n int) (liveness.System, []Task) {
	side := int(math.Sqrt(float64(n)))
	s, tasks := liveness.System{}, []Task(nil)
	name := func(x, y int) string { return fmt.Sprint("block ", x, ",", y) }
	for y := range side {
		for x := range side {
			task := liveness.Task{Name: name(x, y), Accesses: []liveness.Access{{Resource: name(x, y), Mode: queue.Write}}}
			for _, d := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				if x, y := x+d[0], y+d[1]; min(x, y) >= 0 && max(x, y) < side {
					task.Accesses = append(task.Accesses, liveness.Access{Resource: name(x, y)})
				}
			}
			s.Tasks, tasks = append(s.Tasks, task), append(tasks, Task{Rounds: 100})
		}
	}
	return s, tasks
}
