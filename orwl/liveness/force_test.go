package liveness

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/resource"
)

// played runs a system in a way that has nothing in common with Check: the queues are
// plain lists, and each event is one renewal.
type played struct {
	s      System
	queues map[string]*[]playedRequest
	of     [][]*[]playedRequest // the queue of each access
	// apart: each task holds one access at a time, in order. Otherwise it holds all its
	// accesses at once.
	apart bool
	at    []int   // the access that each task renews next; -1: the task waits for all accesses
	done  [][]int // the rounds that each access has done
}

// playedRequest is an entry of a queue.
type playedRequest struct {
	of   First
	mode resource.Mode
}

func newPlayed(s System, apart bool) *played {
	n := len(s.Tasks)
	p := &played{s: s, queues: make(map[string]*[]playedRequest), apart: apart, at: make([]int, n), of: make([][]*[]playedRequest, n), done: make([][]int, n)}
	var order []First
	for t, task := range s.Tasks {
		if !apart {
			p.at[t] = -1
		}
		p.done[t] = make([]int, len(task.Accesses))
		for a, access := range task.Accesses {
			order = append(order, First{t, a})
			if p.queues[access.Resource] == nil {
				p.queues[access.Resource] = new([]playedRequest)
			}
			p.of[t] = append(p.of[t], p.queues[access.Resource])
		}
	}
	slices.SortStableFunc(order, func(x, y First) int { return s.access(x).Priority - s.access(y).Priority })
	for _, f := range order {
		p.request(f)
	}
	return p
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

// can reports whether a task can renew its next access.
func (p *played) can(t int) bool {
	switch {
	case p.at[t] > 0 && !p.apart:
		return true
	case p.apart:
		return p.granted(First{t, p.at[t]})
	}
	for a := range p.s.Tasks[t].Accesses {
		if !p.granted(First{t, a}) {
			return false
		}
	}
	return true
}

// renew renews the next access of a task.
func (p *played) renew(t int) {
	f := First{t, max(p.at[t], 0)}
	p.request(f)
	q := p.of[f.Task][f.Access]
	i := slices.IndexFunc(*q, func(r playedRequest) bool { return r.of == f })
	*q = slices.Delete(*q, i, i+1)
	p.done[f.Task][f.Access]++
	if p.at[t] = f.Access + 1; p.at[t] == len(p.s.Tasks[t].Accesses) {
		p.at[t] = -1
		if p.apart {
			p.at[t] = 0
		}
	}
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

// randomSystem has 2 to 5 tasks on 1 to 4 resources, with any modes and in any order.
func randomSystem(r *rand.Rand) System {
	var s System
	names := []string{"a", "b", "c", "d"}[:1+r.IntN(4)]
	kind := r.IntN(3)
	for t := range 2 + r.IntN(4) {
		task := Task{Name: fmt.Sprintf("t%d", t)}
		for range 1 + r.IntN(3) {
			a := Access{Resource: names[r.IntN(len(names))], Mode: resource.Mode(r.IntN(2))}
			twice := slices.ContainsFunc(task.Accesses, func(b Access) bool { return a.Resource == b.Resource })
			if twice && r.IntN(8) > 0 {
				continue
			}
			switch kind {
			case 0: // any order
				a.Priority = r.IntN(1000)
			case 1: // mostly canonical
				a.Priority = r.IntN(4) / 3
			}
			task.Accesses = append(task.Accesses, a)
		}
		s.Tasks = append(s.Tasks, task)
	}
	return s
}

// A system that Check calls alive runs on in a random order of events. A system that
// Check calls dead stops in every order.
func TestLivenessByForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 1000
	if invariant.Enabled {
		rounds = 100 // the race detector is slow
	}
	alive, dead := 0, 0
	for n := range 6000 {
		s := randomSystem(r)
		err := s.Check()
		var deadlock *DeadlockError
		switch {
		case err == nil:
			alive++
			runsOn(t, newPlayed(s, false), r, rounds)
			runsOn(t, newPlayed(s, true), r, rounds/10)
		case errors.As(err, &deadlock):
			dead++
			for range 3 {
				stops(t, newPlayed(s, false), r, deadlock)
			}
		default:
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("system %d:\n%s", n, s)
		}
	}
	t.Logf("%d systems alive, %d dead", alive, dead)
	if alive < 1000 || dead < 1000 {
		t.Errorf("%d systems alive, %d dead: too few", alive, dead)
	}
}

// runsOn lets the tasks renew at random. It fails if no task can renew, or if one of two
// rivals passes the other.
func runsOn(t *testing.T, p *played, r *rand.Rand, rounds int) {
	t.Helper()
	pairs := p.rivals()
	var can []int
	for events := rounds * p.s.accesses(); events > 0; events-- {
		can = can[:0]
		for task := range p.s.Tasks {
			if p.can(task) {
				can = append(can, task)
			}
		}
		if len(can) == 0 {
			t.Errorf("called alive, but stuck after %v (apart: %v)", p.done, p.apart)
			return
		}
		p.renew(can[r.IntN(len(can))])
		for _, pair := range pairs {
			if ahead := p.rounds(pair[0]) - p.rounds(pair[1]); ahead < 0 || ahead > 1 {
				t.Errorf("%v has done %d rounds more than %v", pair[0], ahead, pair[1])
				return
			}
		}
	}
}

// stops lets the tasks renew at random until the tasks near the deadlock cannot.
func stops(t *testing.T, p *played, r *rand.Rand, deadlock *DeadlockError) {
	t.Helper()
	// A task is near if it is stuck, or a rival of a near task.
	pairs, near := p.rivals(), map[string]bool{deadlock.Cycle[0].Task: true}
	stuck := stuckTasks(p.s, pairs)
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
		if events == 1000 {
			t.Errorf("called dead, but does not stop")
			return
		}
		p.renew(can[r.IntN(len(can))])
	}
	never := 0
	for task := range p.s.Tasks {
		if near[p.s.Tasks[task].Name] && p.rounds(First{task, 0}) == 0 {
			never++
		}
	}
	if never != deadlock.Stuck || never != len(stuck) || deadlock.Tasks != len(p.s.Tasks) {
		t.Errorf("%d tasks of %d never ran: %v", never, len(p.s.Tasks), deadlock)
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
		f := First{slices.IndexFunc(p.s.Tasks, func(t Task) bool { return t.Name == name }), access}
		r := playedRequest{f, p.s.access(f).Mode}
		return f, r, slices.Index(*p.queues[w.Resource], r)
	}
	waiter, waits, behind := at(w.Task, w.Access)
	holder, holds, before := at(w.For, w.ForAccess)
	if before < 0 || behind <= before || waits.mode != w.Mode || holds.mode != w.ForMode || !conflicting(w.Mode, w.ForMode) {
		t.Errorf("%v: not so in %v", w, *p.queues[w.Resource])
	}
	if p.granted(waiter) || p.granted(holder) != w.Granted || p.rounds(waiter) != 0 || p.rounds(holder) != 0 {
		t.Errorf("%v: nobody waits so in %v", w, *p.queues[w.Resource])
	}
}

// stuckTasks are the tasks on a cycle of rivals or behind one.
func stuckTasks(s System, pairs [][2]First) map[int]bool {
	stuck := make(map[int]bool)
	for t := range s.Tasks {
		stuck[t] = true
	}
	for range s.Tasks { // removes tasks that wait only for removed tasks
		for t := range s.Tasks {
			if !slices.ContainsFunc(pairs, func(p [2]First) bool { return p[1].Task == t && stuck[p[0].Task] }) {
				delete(stuck, t)
			}
		}
	}
	return stuck
}
