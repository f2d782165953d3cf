package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// systemOf reads a system: a resource in each text, its accesses in their start order, each with its
// mode and its task, such as "W0 R1 R2 W3".
func systemOf(queues ...string) liveness.System {
	var s liveness.System
	for r, text := range queues {
		for at := 0; at < len(text); at += 3 {
			t := int(text[at+1] - '0')
			for t >= len(s.Tasks) {
				s.Tasks = append(s.Tasks, liveness.Task{Name: fmt.Sprint("t", len(s.Tasks))})
			}
			mode := queue.Read
			if text[at] == 'W' {
				mode = queue.Write
			}
			s.Tasks[t].Accesses = append(s.Tasks[t].Accesses, liveness.Access{Resource: fmt.Sprint("r", r), Mode: mode, Priority: at})
		}
	}
	return s
}

// rounds are tasks with so many rounds.
func rounds(n ...int) (tasks []Task) {
	for _, k := range n {
		tasks = append(tasks, Task{Rounds: k})
	}
	return tasks
}

// text is the conditions of a plan in words.
func (p *Plan) text() (text string) {
	for c := range p.Counters() {
		text += fmt.Sprint(c, ":")
		for _, w := range p.When(c) {
			text += fmt.Sprintf(" %d", w.Counter())
			text += strings.Repeat("'", int(w.Lag()))
		}
		text += "\n"
	}
	return text
}

// The conditions of the pictures in doc.go. A ' is a round before.
func TestConditions(t *testing.T) {
	for _, row := range []struct {
		system liveness.System
		tasks  []Task
		want   string
	}{
		{systemOf("W0 R1 R2 W3"), rounds(5, 5, 5, 5), "0: 3'\n1: 0\n2: 0\n3: 1 2\n"},
		{systemOf("W0 R1 R2 W3"), rounds(5, 5, 4, 5), "0: 1' 2' 3'\n1: 0 3'\n2: 0 3'\n3: 0 1 2\n"},
		{systemOf("W0 R1 R2 W3"), rounds(5, Open, 5, 5), "0: 1' 2' 3'\n1: 0 3'\n2: 0 3'\n3: 0 1 2\n"},
		{systemOf("W0 R1 R2 W3"), rounds(5, 5, 5, 0), "0: 1' 2'\n1: 0\n2: 0\n3:\n"},
		{systemOf("R1 W0", "R0 W1"), rounds(3, 3), "0: 1\n1: 0\n"}, // a deadlock
		{systemOf("W0 R1", "R0 W1"), rounds(3, 3), "0: 1'\n1: 0\n"},
		{systemOf("R0 R1", "W2"), rounds(3, 3, 3), "0:\n1:\n2:\n"},
		{systemOf("W0 R1 W2"), rounds(Open, Open, Open), "0: 1' 2'\n1: 0 2'\n2: 0 1\n"},
	} {
		p := OfSystem(row.system, row.tasks)
		if got := p.text(); got != row.want {
			t.Errorf("%+v, %v:\n%swant\n%s", row.system, row.tasks, got, row.want)
		}
		if kept := strings.Count(row.want, " "); len(p.when) != kept {
			t.Errorf("%+v, %v: the plan keeps %d conditions, want %d", row.system, row.tasks, len(p.when), kept)
		}
	}
}

// How many rounds a counter publishes at least.
func TestTurns(t *testing.T) {
	for _, row := range []struct {
		system liveness.System
		tasks  []Task
		most   int
		want   uint32
	}{
		{systemOf("W0 W1"), rounds(4, 5), 0, 0},       // the nearest are all
		{systemOf("W0 W1 W2"), rounds(5, 5, 5), 0, 5}, // if task 0 says that it ends
		{systemOf("W0 W1 W2"), rounds(4, 5, 5), 3, 0}, // all conditions are kept
		{systemOf("W0 W1 W2"), rounds(4, 5, 5), 2, forever},
		{systemOf("W0 W1 W2", "W0 W1 W2"), rounds(5, 5, 5), 2, 5},
	} {
		if got := newPlan(describe(row.system, row.tasks), row.most).Turns(0); got != row.want {
			t.Errorf("%v %v, at most %d: %d turns, want %d", row.system, row.tasks, row.most, got, row.want)
		}
	}
}

// A task that is at most some rounds ahead of another one waits with each of its counters for each of the other's, if the other one
// has rounds. Two conditions on one counter become the stronger one.
func TestAhead(t *testing.T) {
	both := rounds(5, 5, 5)
	both[1].Apart, both[2].Apart = true, true
	for _, row := range []struct {
		system liveness.System
		tasks  []Task
		want   string
	}{
		{systemOf("W0", "W1"), rounds(5, 5), "0: 1'''\n1:\n"},
		{systemOf("W0", "W1"), rounds(5, 0), "0:\n1:\n"},
		{systemOf("W0 W1"), rounds(5, 5), "0: 1'\n1: 0\n"},
		{systemOf("W0", "W1 R2", "W2 R1"), both, "0: 1''' 2'''\n1: 3'\n2: 4\n3: 1\n4: 2'\n"},
	} {
		row.tasks[0].Ahead = Ahead{Of: 1, Most: 3}
		if got := OfSystem(row.system, row.tasks).text(); got != row.want {
			t.Errorf("%+v, %v:\n%swant\n%s", row.system, row.tasks, got, row.want)
		}
	}
	far := rounds(5, 5)
	far[0].Ahead = Ahead{Of: 1, Most: MostAhead}
	if c := OfSystem(systemOf("W0", "W1"), far).When(0)[0]; !c.Met(MostAhead, 0) || c.Met(MostAhead+1, 0) || !c.Met(MostAhead+1, 1) || !c.Met(Ended-1, Ended) {
		t.Errorf("the greatest lag is %d, want %d", c.Lag(), MostAhead)
	}
}

// New needs to know each task, and a task that waits for another one's rounds waits for earlier ones, on its own node.
func TestMisuse(t *testing.T) {
	ahead := func(of, most, node int) []Task {
		tasks := rounds(1, 1)
		tasks[0].Ahead, tasks[1].Node = Ahead{Of: of, Most: most}, node
		return tasks
	}
	for what, make := range map[string]func(){
		"two tasks of a system of one":    func() { OfSystem(systemOf("W0"), rounds(1, 1)) },
		"a wait for the same round":       func() { OfSystem(systemOf("W0 W1"), ahead(1, 0, 0)) },
		"a lag that no condition can say": func() { OfSystem(systemOf("W0 W1"), ahead(1, MostAhead+1, 0)) },
		"a wait for another node":         func() { OfSystemOnNodes(systemOf("W0 W1"), ahead(1, 1, 1), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", what)
				}
			}()
			make()
		}()
	}
}

// A task that holds its accesses at once has one counter, and others have one for each access.
func TestCounters(t *testing.T) {
	s := systemOf("W0 R1 R2", "R0 W1 W2")
	s.Tasks[2].Sequence = []liveness.Step{
		{Op: liveness.Acquire, Accesses: []int{0}}, {Op: liveness.Release, Accesses: []int{0}},
		{Op: liveness.Acquire, Accesses: []int{1}}, {Op: liveness.Release, Accesses: []int{1}},
	}
	both := []int{0, 1}
	s.Tasks[0].Sequence = []liveness.Step{{Op: liveness.Acquire, Accesses: both}, {Op: liveness.Release, Accesses: both}}
	p := OfSystem(s, []Task{{Rounds: 2}, {Rounds: 2, Apart: true}, {Rounds: 2}})
	var got []int
	for task := range s.Tasks {
		got = append(got, p.Counter(task, 0), p.Counter(task, 1))
	}
	if want := []int{0, 0, 1, 2, 3, 4}; !slices.Equal(got, want) || p.Counters() != 5 {
		t.Errorf("counters %v of %d, want %v of 5", got, p.Counters(), want)
	}
}

// On several nodes a write also waits for the writer before it, if this one is elsewhere and readers stand
// between the two. A task that crosses nodes has a counter for each access.
func TestOnNodes(t *testing.T) {
	for _, row := range []struct {
		system liveness.System
		rounds []int
		node   []int
		homes  map[string]int
		want   string
	}{
		{systemOf("W0 R1 W2 R3"), []int{5, 5, 5, 5}, []int{0, 0, 0, 0}, nil, "0: 3'\n1: 0\n2: 1\n3: 2\n"},
		{systemOf("W0 R1 W2 R3"), []int{5, 5, 5, 5}, []int{0, 0, 1, 0}, nil, "0: 2' 3'\n1: 0\n2: 0 1\n3: 2\n"},
		{systemOf("W0 R1 W2 R3"), []int{5, 5, 5, 5}, []int{0, 1, 0, 1}, nil, "0: 3'\n1: 0\n2: 1\n3: 2\n"},
		{systemOf("R0 W1"), []int{5, 5}, []int{0, 1}, nil, "0: 1'\n1: 0\n"}, // the writer before is the same
		{systemOf("W0 R1 W2 R3"), []int{5, 5, 4, 5}, []int{0, 0, 1, 0}, nil, "0: 1' 2' 3'\n1: 0 2'\n2: 0 1 3'\n3: 0 2\n"},
		{systemOf("W0 R1", "W0 R1"), []int{5, 5}, []int{2, 2}, map[string]int{"r0": 2, "r1": 2}, "0: 1'\n1: 0\n"},
		{systemOf("W0 R1", "W0 R1"), []int{5, 5}, []int{2, 2}, map[string]int{"r0": 2, "r1": 1}, "0: 2'\n1: 3'\n2: 0\n3: 1\n"},
		{systemOf("W0 R1", "W0 R1"), []int{5, 5}, []int{2, 1}, map[string]int{"r0": 2, "r1": 2}, "0: 2'\n1: 3'\n2: 0\n3: 1\n"},
		{systemOf("W0 R1", "W0"), []int{5, 5}, []int{0, 1}, nil, "0: 2'\n1:\n2: 0\n"}, // the second resource of task 0 is local
		{systemOf("W0 R1", "W0 R1"), []int{5, 0}, []int{2, 1}, map[string]int{"r0": 2, "r1": 2}, "0:\n1:\n"},
	} {
		tasks := rounds(row.rounds...)
		for t := range tasks {
			tasks[t].Node = row.node[t]
		}
		if got := OfSystemOnNodes(row.system, tasks, row.homes).text(); got != row.want {
			t.Errorf("%+v on nodes %v with homes %v:\n%swant\n%s", row.system, row.node, row.homes, got, row.want)
		}
	}
}

// A plan on several nodes names who uses which resource.
func TestUses(t *testing.T) {
	tasks := []Task{{Rounds: 3, Node: 2}, {Rounds: 3}, {Node: 1}}
	p := OfSystemOnNodes(systemOf("W0 R1 R2", "R1 W0"), tasks, map[string]int{"r1": 1})
	got := fmt.Sprint(p.Resources(), p.Home(0), p.Home(1), p.Uses(0), p.Uses(1))
	if want := "2 0 1 [{0 2 true} {2 0 false}] [{3 0 false} {1 2 true}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// On one node, whichever it is, a plan is the same as without nodes. New does not read Task.Node.
func TestOneNodeIsThePlan(t *testing.T) {
	for seed := range uint64(500) {
		g := randomGame(seed, most)
		homes := make(map[string]int)
		for t := range g.tasks {
			g.tasks[t].Node = t
		}
		one := OfSystem(g.system, g.tasks)
		for t := range g.tasks {
			g.tasks[t].Node = int(seed % 3)
		}
		for _, name := range g.resources() {
			homes[name] = int(seed % 3)
		}
		all := OfSystemOnNodes(g.system, g.tasks, homes)
		if one.text() != g.plan.text() || all.text() != g.plan.text() || !slices.Equal(all.own, g.plan.own) || !slices.Equal(all.turns, g.plan.turns) {
			t.Fatalf("seed %d: the plan is\n%swithout nodes\n%sand on one of them\n%s", seed, g.plan.text(), one.text(), all.text())
		}
	}
}

// A resource with many accesses has nearest conditions, and empty turns if they do not end together.
func TestManyAccesses(t *testing.T) {
	var s liveness.System
	var tasks []Task
	for i := range 1000 {
		s.Tasks = append(s.Tasks, liveness.Task{Name: fmt.Sprint("t", i), Accesses: []liveness.Access{{Resource: "r", Mode: queue.Mode(i % 2)}}})
		tasks = append(tasks, Task{Rounds: 1 + i})
	}
	p := OfSystem(s, tasks)
	if len(p.when) != 1000 || p.Turns(0) != forever || p.Turns(999) != forever {
		t.Errorf("%d conditions, %d turns", len(p.when), p.Turns(0))
	}
}

var (
	seeds = rings.Seeds("plan.seeds", 150, 160_000, "TestRandom: seeds")
	share = rings.Size("plan.share", 60, 8, 1, "TestEverySmallSystem: one of so many systems")
)

// columns are all queues of a resource: which of three tasks use it, how, and in which order.
func columns() (all []string) {
	var grow func(text string, used int)
	grow = func(text string, used int) {
		all = append(all, text)
		for t := range 3 {
			if used>>t&1 == 0 {
				for _, mode := range []string{"R", "W"} {
					next := mode + string(rune('0'+t))
					if text != "" {
						next = text + " " + next
					}
					grow(next, used|1<<t)
				}
			}
		}
	}
	grow("", 0)
	return all
}

// TestEverySmallSystem plays all systems of three tasks and three resources, with two rounds of each
// task: in each state the queues and the plan allow the same.
func TestEverySmallSystem(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	all := columns()
	n, states, dead, stride := 0, 0, 0, share.N()
	for i, a := range all {
		for j, b := range all[:i+1] {
			for k, c := range all[:j+1] {
				if n++; n%stride != 0 {
					continue
				}
				s := systemOf(a, b, c)
				for len(s.Tasks) < 3 {
					s.Tasks = append(s.Tasks, liveness.Task{Name: fmt.Sprint("t", len(s.Tasks))})
				}
				last := []int{2, 2, 2}
				if (i+j+k)%4 == 0 {
					last = []int{2, (i + j) % 3, k % 3}
				}
				g := newGame(s, rounds(last...), last, most, canonical)
				r := g.play()
				if r.differ != nil {
					t.Fatalf("%q %q %q, rounds %v: %v", a, b, c, last, r.differ)
				}
				states += r.states
				if r.deadlock {
					dead++
				}
			}
		}
	}
	if dead == 0 {
		t.Error("no system comes to a stop")
	}
	t.Logf("one in %d of %d systems, %d states, %d stop", stride, n, states, dead)
}

// randomGame draws a program of up to four tasks and three resources.
func randomGame(seed uint64, most int) *game {
	rng := rand.New(rand.NewPCG(seed, 1))
	equal, names := rng.IntN(3) == 0, 1+rng.IntN(3)
	s, tasks, last, order := randomTasks(rng, 2+rng.IntN(3), names, equal, seed%2 == 0)
	drawAhead(rng, s, tasks)
	return newGame(s, tasks, last, most, order)
}

// drawAhead has some tasks stay near to others of their node that have accesses.
func drawAhead(rng *rand.Rand, s liveness.System, tasks []Task) {
	for t := range tasks {
		of := rng.IntN(len(tasks))
		if rng.IntN(2) == 0 && len(s.Tasks[of].Accesses) > 0 && tasks[of].Node == tasks[t].Node {
			tasks[t].Ahead = Ahead{Of: of, Most: 1 + rng.IntN(3)}
		}
	}
}

// randomTasks draws n tasks: any order, tasks with different rounds, a resource used twice, accesses
// one by one in the order of a sequence or in another one each round.
func randomTasks(rng *rand.Rand, n, names int, equal, priorities bool) (s liveness.System, tasks []Task, last []int, order func(task, round int) []liveness.Step) {
	mine := make([][]liveness.Step, n)
	for t := range n {
		task := liveness.Task{Name: fmt.Sprint("t", t)}
		for r := range names {
			for range 1 + rng.IntN(8)/7 {
				if rng.IntN(3) > 0 {
					a := liveness.Access{Resource: fmt.Sprint("r", r), Mode: queue.Mode(rng.IntN(2))}
					if priorities {
						a.Priority = rng.IntN(100)
					}
					task.Accesses = append(task.Accesses, a)
				}
			}
		}
		k := rng.IntN(4)
		if equal {
			k = 2
		}
		plan := Task{Rounds: k}
		if k > 0 && rng.IntN(6) == 0 { // it says in a round that this is its last one
			k = 1 + rng.IntN(k)
		}
		switch rng.IntN(5) {
		case 0:
			plan.Apart = true
		case 1:
			if len(task.Accesses) > 0 {
				task.Sequence = oneByOne(rng, len(task.Accesses))
			}
		case 2:
			if !equal {
				plan.Rounds = Open
			}
		}
		mine[t] = task.Sequence
		s.Tasks, tasks, last = append(s.Tasks, task), append(tasks, plan), append(last, k)
	}
	return s, tasks, last, func(t, _ int) []liveness.Step {
		if tasks[t].Apart {
			return oneByOne(rng, len(s.Tasks[t].Accesses))
		}
		return mine[t]
	}
}

// TestRandom plays random systems: in each state the queues and the plan allow the same.
func TestRandom(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	states, dead := 0, 0
	for seed := range seeds.All() {
		r := randomGame(seed, most).play()
		if r.differ != nil {
			t.Fatalf("seed %d: %v", seed, r.differ)
		}
		states += r.states
		if r.deadlock {
			dead++
		}
	}
	t.Logf("%d states, %d systems stop", states, dead)
}

// TestEmptyTurns plays random systems with nearest conditions only. The plan may allow less than the
// queues, never more, and it stops only where the queues do.
func TestEmptyTurns(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	took := 0
	for seed := range seeds.All() {
		g := randomGame(seed, 0)
		if g.takesTurns() {
			took++
		}
		if r := g.play(); r.differ != nil {
			t.Fatalf("seed %d: %v", seed, r.differ)
		}
	}
	if took == 0 {
		t.Error("no task takes an empty turn")
	}
}

// drop takes a condition out of a plan.
func (p *Plan) drop(i int) {
	p.when = slices.Delete(p.when, i, i+1)
	for c, begin := range p.begin {
		if int(begin) > i {
			p.begin[c]--
		}
	}
}

// TestEachConditionCounts drops each condition of a resource, and shifts it by a round. Then a state
// differs: no condition of the nearest group can be left out.
func TestEachConditionCounts(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	n := 0
	for _, text := range columns() {
		s := systemOf(text)
		tasks, last := rounds(slices.Repeat([]int{2}, len(s.Tasks))...), slices.Repeat([]int{2}, len(s.Tasks))
		for i := range newPlan(describe(s, tasks), most).when {
			for name, change := range map[string]func(p *Plan){
				"dropped":              func(p *Plan) { p.drop(i) },
				"shifted by one round": func(p *Plan) { p.when[i] ^= 1 },
			} {
				g := newGame(s, tasks, last, most, canonical)
				change(g.plan)
				if r := g.play(); r.differ == nil {
					t.Errorf("%q: condition %d is %s, and no state differs:\n%s", text, i, name, g.plan.text())
				}
				n++
			}
		}
	}
	t.Logf("%d changes", n)
}

// Nearest conditions alone go wrong where accesses end after different rounds: in W0 W1 W2 task 1
// ends, and task 2 overtakes task 0. This is why all conditions are kept, or empty turns are taken.
func TestNearestIsNotEnough(t *testing.T) {
	g := newGame(systemOf("W0 W1 W2"), rounds(3, 1, 3), []int{3, 1, 3}, 0, canonical)
	if r := g.play(); r.differ != nil {
		t.Errorf("with empty turns: %v", r.differ)
	}
	g.withoutTurns()
	if r := g.play(); r.differ == nil {
		t.Error("without empty turns nothing goes wrong")
	}
}

// TestCheckAgrees compares the proof with all schedules: a system stops exactly if Check says so.
func TestCheckAgrees(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	alive, stop := 0, 0
	for seed := range seeds.All() {
		g := randomGame(seed, most)
		if slices.ContainsFunc(g.tasks, func(t Task) bool { return t.Apart }) || g.endsEarly() {
			continue // Check asks for more, or for rounds that do not come
		}
		stops := !g.passes()
		if r := g.play(); r.deadlock != stops {
			t.Fatalf("seed %d: it stops: %t, and Check says %t", seed, r.deadlock, stops)
		}
		if stops {
			stop++
		} else {
			alive++
		}
	}
	if alive == 0 || stop == 0 {
		t.Errorf("%d go on, %d stop", alive, stop)
	}
}

// Accesses stand task by task, and each is of a task.
func TestAccessesStandTaskByTask(t *testing.T) {
	for _, c := range []struct {
		tasks []uint32 // of the accesses
		want  string
	}{{[]uint32{1, 0}, "access 1 is one of task 0"}, {[]uint32{0, 2}, "access 1 is one of task 2"}} {
		p := Program{Tasks: rounds(1, 1), Resources: 1}
		for _, task := range c.tasks {
			p.Accesses = append(p.Accesses, Access{Task: task})
		}
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("accesses of tasks %v: %s, want %q", c.tasks, got, c.want)
				}
			}()
			New(p)
		}()
	}
}
