package liveness

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/resource"
)

// played runs a system in a way that has nothing in common with Check: the queues are
// plain lists, and each event is one acquire or one renewal.
type played struct {
	s      System
	queues map[string]*[]playedRequest
	of     [][]*[]playedRequest // the queue of each access
	events [][]playedEvent      // of a round of each task
	at     []int                // the next event of each task
	done   [][]int              // the rounds that each access has done
	ended  []int                // the rounds that each task has done
}

// playedEvent is a Step with one access.
type playedEvent struct {
	op     Op
	access int
}

// playedRequest is an entry of a queue.
type playedRequest struct {
	of   First
	mode resource.Mode
}

func newPlayed(s System) *played {
	n := len(s.Tasks)
	p := &played{s: s, queues: make(map[string]*[]playedRequest), at: make([]int, n), ended: make([]int, n),
		of: make([][]*[]playedRequest, n), done: make([][]int, n), events: make([][]playedEvent, n)}
	var order []First
	for t, task := range s.Tasks {
		p.done[t] = make([]int, len(task.Accesses))
		for a, access := range task.Accesses {
			order = append(order, First{Task: t, Access: a})
			if p.queues[access.Resource] == nil {
				p.queues[access.Resource] = new([]playedRequest)
			}
			p.of[t] = append(p.of[t], p.queues[access.Resource])
		}
		for _, step := range task.Sequence {
			for _, a := range step.Accesses {
				p.events[t] = append(p.events[t], playedEvent{step.Op, a})
			}
		}
		if task.Sequence == nil {
			for i := range 2 * len(task.Accesses) {
				p.events[t] = append(p.events[t], playedEvent{Op(i / len(task.Accesses)), i % len(task.Accesses)})
			}
		}
	}
	slices.SortStableFunc(order, func(x, y First) int { return s.access(x).Priority - s.access(y).Priority })
	for _, f := range order {
		p.request(f)
	}
	return p
}

// apart is a system whose tasks hold one access at a time.
func apart(s System) System {
	tasks := slices.Clone(s.Tasks)
	for t := range tasks {
		tasks[t].Sequence = nil
		for a := range tasks[t].Accesses {
			tasks[t].Sequence = append(tasks[t].Sequence, Step{Acquire, []int{a}}, Step{Release, []int{a}})
		}
	}
	return System{tasks}
}

func (p *played) request(f First) {
	q := p.of[f.Task][f.Access]
	*q = append(*q, playedRequest{f, p.s.Tasks[f.Task].Accesses[f.Access].Mode})
}

func conflicting(x, y resource.Mode) bool { return x == resource.Write || y == resource.Write }

// granted reports whether nothing ahead of an access conflicts with it.
func (p *played) granted(f First) bool {
	mode := p.s.Tasks[f.Task].Accesses[f.Access].Mode
	for _, r := range *p.of[f.Task][f.Access] {
		if r.of == f {
			return true
		} else if conflicting(r.mode, mode) {
			return false
		}
	}
	return false
}

// can reports whether a task can do its next event.
func (p *played) can(t int) bool {
	if len(p.events[t]) == 0 {
		return false
	}
	e := p.events[t][p.at[t]]
	return e.op == Release || p.granted(First{Task: t, Access: e.access})
}

// move does the next event of a task.
func (p *played) move(t int) {
	e := p.events[t][p.at[t]]
	if p.at[t]++; p.at[t] == len(p.events[t]) {
		p.at[t] = 0
		p.ended[t]++
	}
	if e.op == Acquire {
		return // the queue does not know of it
	}
	f := First{Task: t, Access: e.access}
	p.request(f)
	q := p.of[t][e.access]
	i := slices.IndexFunc(*q, func(r playedRequest) bool { return r.of == f })
	*q = slices.Delete(*q, i, i+1)
	p.done[t][e.access]++
}

// rounds is the number of rounds that an access has done.
func (p *played) rounds(f First) int { return p.done[f.Task][f.Access] }

// rivals are all pairs of conflicting accesses. The first of a pair is ahead at first.
func (p *played) rivals() (pairs [][2]First) {
	for _, queue := range p.queues {
		q := *queue
		for j := range q {
			for i := range j {
				if conflicting(q[i].mode, q[j].mode) {
					pairs = append(pairs, [2]First{q[i].of, q[j].of})
				}
			}
		}
	}
	return pairs
}

var plays = rings.Seeds("liveness.plays", 1500, 96_000, "TestLivenessByForce: seeds of systems")

// A system that Check calls alive runs on in a random order of events. A system that
// Check calls dead stops in every order.
func TestLivenessByForce(t *testing.T) {
	rings.Computes(t)
	const rounds = 500
	alive, dead, only := 0, 0, 0
	for seed := range plays.Part(1, rings.Of(1, 2, 1)) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := randomSystem(r)
		err := s.Check()
		var deadlock *DeadlockError
		switch {
		case err == nil:
			alive++
			if withoutSequences(s).Check() != nil {
				only++
			}
			runsOn(t, newPlayed(s), r, rounds)
			if !slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Sequence != nil }) {
				runsOn(t, newPlayed(apart(s)), r, rounds/10)
			}
		case errors.As(err, &deadlock):
			dead++
			for range 3 {
				stops(t, newPlayed(s), r, deadlock)
			}
		default:
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, s)
		}
	}
	t.Logf("%d systems alive, %d of them only by their sequences, %d dead", alive, only, dead)
	// A share need not have enough of each.
	if first, n := plays.Span(); first == 0 && (alive < n/6 || only < n/30 || dead < n/6) {
		t.Errorf("%d systems alive, %d of them only by their sequences, %d dead: too few", alive, only, dead)
	}
}

// runsOn lets the tasks go on at random. It fails if no task can go on, if one of two
// rivals passes the other, or if a task ends no round.
func runsOn(t *testing.T, p *played, r *rand.Rand, rounds int) {
	t.Helper()
	pairs := p.rivals()
	var can []int
	for events := rounds * 2 * p.s.accesses(); events > 0; events-- {
		can = can[:0]
		for task := range p.s.Tasks {
			if p.can(task) {
				can = append(can, task)
			}
		}
		if len(can) == 0 {
			t.Errorf("called alive, but stuck after %v", p.done)
			return
		}
		p.move(can[r.IntN(len(can))])
		for _, pair := range pairs {
			if ahead := p.rounds(pair[0]) - p.rounds(pair[1]); ahead < 0 || ahead > 1 {
				t.Errorf("%v has done %d rounds more than %v", pair[0], ahead, pair[1])
				return
			}
		}
	}
	if at := slices.Index(p.ended, 0); at >= 0 && len(p.events[at]) > 0 {
		t.Errorf("called alive, but task %d ended no round", at)
	}
}

// stops lets the tasks go on at random until the tasks near the deadlock cannot.
func stops(t *testing.T, p *played, r *rand.Rand, deadlock *DeadlockError) {
	t.Helper()
	// A task is near if it is stuck, or a rival of a near task.
	pairs, near := p.rivals(), map[string]bool{deadlock.Cycle[0].Task: true}
	stuck := stuckTasks(p)
	for task := range stuck {
		near[p.s.Tasks[task].Name] = true
	}
	for range p.s.Tasks {
		for _, pair := range pairs {
			x, y := p.s.Tasks[pair[0].Task].Name, p.s.Tasks[pair[1].Task].Name
			if near[x] || near[y] {
				near[x], near[y] = true, true
			}
		}
	}
	for events := 0; ; events++ {
		var can []int
		for task := range p.s.Tasks {
			if near[p.s.Tasks[task].Name] && p.can(task) {
				can = append(can, task)
			}
		}
		if len(can) == 0 {
			break
		}
		if events == 2000 {
			t.Errorf("called dead, but does not stop")
			return
		}
		p.move(can[r.IntN(len(can))])
	}
	never := 0
	for task := range p.s.Tasks {
		if near[p.s.Tasks[task].Name] && p.ended[task] == 0 {
			never++
		}
	}
	if never != deadlock.Stuck || never != len(stuck) || deadlock.Tasks != len(p.s.Tasks) {
		t.Errorf("%d tasks of %d ended no round: %v", never, len(p.s.Tasks), deadlock)
	}
	for i, w := range deadlock.Cycle {
		p.confirm(t, w)
		if next := deadlock.Cycle[(i+1)%len(deadlock.Cycle)]; next.Task != w.For {
			t.Errorf("the cycle breaks off after %v: %v", w, deadlock)
		}
		if i > 0 && w.Task <= deadlock.Cycle[0].Task {
			t.Errorf("the cycle does not begin with its first task, or meets it again: %v", deadlock)
		}
	}
}

// confirm checks a wait against the queues of the stopped system.
func (p *played) confirm(t *testing.T, w Wait) {
	t.Helper()
	at := func(name string, access int) (First, playedRequest, int) {
		f := First{Task: slices.IndexFunc(p.s.Tasks, func(t Task) bool { return t.Name == name }), Access: access}
		r := playedRequest{f, p.s.access(f).Mode}
		return f, r, slices.Index(*p.queues[w.Resource], r)
	}
	waiter, waits, behind := at(w.Task, w.Access)
	holder, holds, before := at(w.For, w.ForAccess)
	if before < 0 || behind <= before || waits.mode != w.Mode || holds.mode != w.ForMode || !conflicting(w.Mode, w.ForMode) {
		t.Errorf("%v: not so in %v", w, *p.queues[w.Resource])
	}
	task, other := p.s.Tasks[waiter.Task], p.s.Tasks[holder.Task]
	if w.Step != task.step(Acquire, w.Access) || w.ForStep != other.step(Release, w.ForAccess) {
		t.Errorf("%v: the steps are others in\n%s", w, p.s)
	}
	if task.Sequence != nil && !slices.Contains(task.Sequence[w.Step].Accesses, p.events[waiter.Task][p.at[waiter.Task]].access) {
		t.Errorf("%v: the task waits in another step in\n%s", w, p.s)
	}
	if p.granted(waiter) || p.granted(holder) != w.Granted || p.rounds(waiter) != 0 || p.rounds(holder) != 0 {
		t.Errorf("%v: nobody waits so in %v", w, *p.queues[w.Resource])
	}
}

// stuckTasks are the tasks that cannot end a first round: a search for the steps of
// round 1 that no cycle holds up. It asks for each event only which other events must
// be over, and plays nothing.
func stuckTasks(p *played) map[int]bool {
	at := func(t int, e playedEvent) int { return slices.Index(p.events[t], e) }
	over := make([]int, len(p.s.Tasks)) // the events of each task that can be over
	pairs := p.rivals()
	free := func(t int) bool {
		e := p.events[t][over[t]]
		return e.op == Release || !slices.ContainsFunc(pairs, func(pair [2]First) bool {
			s, a := pair[0].Task, pair[0].Access
			return pair[1] == First{Task: t, Access: e.access} && over[s] <= at(s, playedEvent{Release, a})
		})
	}
	for more := true; more; {
		more = false
		for t := range over {
			for over[t] < len(p.events[t]) && free(t) {
				over[t]++
				more = true
			}
		}
	}
	stuck := make(map[int]bool)
	for t := range over {
		if over[t] < len(p.events[t]) {
			stuck[t] = true
		}
	}
	return stuck
}
