package orwl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// plan is a random program. Every task computes what it writes from all that it sees,
// its number and the round. A seed makes the plan.
type randomProgram struct {
	seed   uint64
	system liveness.System
	words  []int // of each resource, r0 and so on
	tasks  []taskPlan
}

// taskPlan is how a task goes through its rounds.
type taskPlan struct {
	rounds int
	end    wayOut
}

// wayOut is the task's way to end after its rounds.
type wayOut uint8

const (
	returns wayOut = iota
	fails
	panics
	exits
)

func (p *randomProgram) String() string {
	text := fmt.Sprintf("seed %d:\n%v", p.seed, p.system)
	for i, t := range p.tasks {
		text += fmt.Sprintf("%s: %d rounds, end %d\n", p.system.Tasks[i].Name, t.rounds, t.end)
	}
	return text
}

// drawPlan draws a plan. In some a task waits for itself.
func drawPlan(seed uint64) *randomProgram {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &randomProgram{seed: seed, words: make([]int, 1+rng.IntN(8))}
	for i := range p.words {
		p.words[i] = rng.IntN(5)
	}
	rounds, even := rng.IntN(12), rng.IntN(2) == 0
	for t := range 2 + rng.IntN(11) {
		task := liveness.Task{Name: fmt.Sprintf("t%d", t)}
		for _, r := range rng.Perm(len(p.words))[:rng.IntN(min(4, len(p.words))+1)] {
			a := liveness.Access{Resource: fmt.Sprintf("r%d", r), Mode: queue.Mode(rng.IntN(2))}
			task.Accesses = append(task.Accesses, a)
			if a.Mode == queue.Read && rng.IntN(8) == 0 {
				task.Accesses = append(task.Accesses, a)
			}
		}
		p.system.Tasks = append(p.system.Tasks, task)
		n := rounds
		if !even {
			n = rng.IntN(12)
		}
		p.tasks = append(p.tasks, taskPlan{rounds: n})
	}
	if all := p.system.Tasks[0].Accesses; len(all) > 0 && rng.IntN(4) == 0 { // the task waits for itself
		p.system.Tasks[0].Accesses = append(all, liveness.Access{Resource: all[0].Resource, Mode: queue.Write})
	}
	return p
}

// mix is the finaliser of splitmix64.
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// writes reports whether a task writes in a round; it may always.
func (p *randomProgram) writes(task, round, access int) bool {
	return p.system.Tasks[task].Accesses[access].Mode == queue.Write &&
		mix(p.seed^uint64(task)<<40^uint64(round)<<8^uint64(access))%4 > 0
}

// work is a round of a task on the words of its accesses. It returns a hash of all
// that it has seen. Others may run between.
func (p *randomProgram) work(task, round int, words [][]uint64, versions []uint64, between func()) uint64 {
	h := mix(p.seed ^ uint64(task)<<32 ^ uint64(round))
	for i := range words {
		h = mix(h ^ versions[i])
		for _, w := range words[i] {
			between()
			h = mix(h ^ w)
		}
	}
	for i := range words {
		for j := range words[i] {
			if p.writes(task, round, i) {
				between()
				words[i][j] = mix(h + uint64(i)<<8 + uint64(j))
			}
		}
	}
	return h
}

// outcome is what a run leaves, and what its tasks have seen, round by round.
type outcome struct {
	words    [][]uint64
	versions []uint64
	seen     [][]uint64
}

// before is the relation → of Check: before[x][y] says that task x has an access
// ahead of a conflicting access of task y.
func (p *randomProgram) before() [][]bool {
	before := make([][]bool, len(p.system.Tasks))
	for i := range before {
		before[i] = make([]bool, len(p.system.Tasks))
	}
	access := func(f liveness.First) liveness.Access { return p.system.Tasks[f.Task].Accesses[f.Access] }
	order := p.system.Order()
	for i, y := range order {
		for _, x := range order[:i] {
			a, b := access(x), access(y)
			if a.Resource == b.Resource && (a.Mode == queue.Write || b.Mode == queue.Write) {
				before[x.Task][y.Task] = true
			}
		}
	}
	return before
}

// order is the tasks in an order that agrees with before, or fewer if they go
// round in a circle.
func (p *randomProgram) order() (order []int) {
	before := p.before()
	ready := func(t int) bool {
		for s := range before {
			if before[s][t] && !slices.Contains(order, s) {
				return false
			}
		}
		return !slices.Contains(order, t)
	}
	for {
		t := 0
		for t < len(before) && !ready(t) {
			t++
		}
		if t == len(before) {
			return order
		}
		order = append(order, t)
	}
}

// sequential runs the tasks one after another, round by round, in plain loops.
func (p *randomProgram) sequential() outcome {
	o := outcome{make([][]uint64, len(p.words)), make([]uint64, len(p.words)), make([][]uint64, len(p.tasks))}
	for i, n := range p.words {
		o.words[i] = make([]uint64, n)
	}
	return p.goesOn(o)
}

// goesOn is sequential from what another run has left.
func (p *randomProgram) goesOn(o outcome) outcome {
	most := 0
	for _, t := range p.tasks {
		most = max(most, t.rounds)
	}
	order := p.order()
	for round := range most {
		for _, t := range order {
			if round >= p.tasks[t].rounds {
				continue
			}
			var words [][]uint64
			var versions []uint64
			for _, a := range p.system.Tasks[t].Accesses {
				r := int(a.Resource[1] - '0')
				words, versions = append(words, o.words[r]), append(versions, o.versions[r])
			}
			o.seen[t] = append(o.seen[t], p.work(t, round, words, versions, func() {}))
			for i, a := range p.system.Tasks[t].Accesses {
				if p.writes(t, round, i) {
					o.versions[a.Resource[1]-'0']++
				}
			}
		}
	}
	return o
}

// declare makes the plan a program of tasks. body gives a task what it does in a round.
func (p *randomProgram) declare(t testing.TB, o Options, body func(task int) func(t *Task, round int) error) *Runtime {
	rt := mustNew(t, o)
	for i, n := range p.words {
		rt.Resource(fmt.Sprintf("r%d", i), 8*n)
	}
	p.tasksOf(rt, body)
	return rt
}

// tasksOf declares the tasks of the plan alone.
func (p *randomProgram) tasksOf(rt *Runtime, body func(task int) func(t *Task, round int) error) {
	for i, task := range p.system.Tasks {
		declared := rt.Task(task.Name)
		for _, a := range task.Accesses {
			if r := rt.Lookup(a.Resource); a.Mode == queue.Write {
				declared.Write(r)
			} else {
				declared.Read(r)
			}
		}
		p.each(declared, i, body(i))
	}
}

// each gives a task its body. Some say only while they run that a round is the last one.
func (p *randomProgram) each(task *Task, i int, do func(t *Task, round int) error) {
	rounds := p.tasks[i].rounds
	if rounds == 0 || mix(p.seed^uint64(i)<<50)%3 > 0 {
		task.Each(rounds, func(round int) error { return do(task, round) })
		return
	}
	more := rounds + int(mix(p.seed+uint64(i))%3)
	if more == rounds {
		more = -1
	}
	task.Each(more, func(round int) error {
		if round == rounds-1 {
			task.Last()
		}
		return do(task, round)
	})
}

// body is what a plan's task does in a round. It notes what it sees before others can see what it has made of it.
func (p *randomProgram) body(task int, seen *[]uint64, between func()) func(t *Task, round int) error {
	how := p.tasks[task]
	return func(t *Task, round int) error {
		*seen = append(*seen, p.round(t, task, round, between))
		if round < how.rounds-1 {
			return nil
		}
		switch how.end {
		case fails:
			return errPlanned
		case panics:
			panic(errPlanned)
		case exits:
			runtime.Goexit()
		}
		return nil
	}
}

// errPlanned is the planned failure or panic of a task.
var errPlanned = errors.New("planned")

// noise varies the schedule: now and then it yields, or takes its time.
func noise(seed uint64) func() {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func() {
		switch n := rng.IntN(16); {
		case n < 3:
			runtime.Gosched()
		case n < 5:
			for range rng.IntN(300) {
				seed = mix(seed)
			}
		}
	}
}

// round does work with what a task holds.
func (p *randomProgram) round(t *Task, task, round int, between func()) uint64 {
	words, versions := make([][]uint64, len(t.accesses)), make([]uint64, len(t.accesses))
	for i, a := range t.accesses {
		versions[i] = a.Place().Version()
		if p.writes(task, round, i) {
			words[i] = Write[uint64](a)
			continue
		}
		v := Read[uint64](a)
		words[i] = make([]uint64, v.Len())
		v.Copy(words[i])
	}
	return p.work(task, round, words, versions, between)
}

// result is what a run has left.
func (p *randomProgram) result(t testing.TB, rt *Runtime, seen [][]uint64) outcome {
	o := outcome{seen: seen}
	for i := range p.words {
		words, version := content(t, rt.Lookup(fmt.Sprintf("r%d", i)))
		o.words, o.versions = append(o.words, words), append(o.versions, version)
	}
	return o
}

// agree checks what a run has left, by each of its nodes, and what its tasks have seen.
func (p *randomProgram) agree(t *testing.T, nodes []outcome, seen [][]uint64, want outcome) {
	t.Helper()
	for node, got := range nodes {
		if got.seen = seen; !reflect.DeepEqual(got, want) {
			t.Errorf("%d nodes, by node %d: %v, want %v\nin %v", len(nodes), node, got, want, p)
		}
	}
}

// cut makes a task that has rounds do fewer of them.
func (p *randomProgram) cut(task int) {
	t := &p.tasks[task]
	t.rounds = 1 + int(mix(p.seed+1)%uint64(t.rounds))
}
