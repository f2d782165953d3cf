package liveness

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// explored is all states that a played system can reach, by any schedule. A state is
// the next event of each task and the order of each queue. Each access has one request
// at a time, so the states are finitely many.
type explored struct {
	p     *played
	known map[string]int // the number of each state
	next  []moment       // by number
	from  [][]move       // the moves that lead to a state
	ends  []bool         // the tasks that end a round in some schedule
}

// moment is what a played system changes, without its counts.
type moment struct {
	at     []int
	queues map[string][]playedRequest
}

// move is a move of a task in a state.
type move struct{ state, task int }

// mostStates bounds the states of one system.
const mostStates = 20_000

// explore visits all states. ok is false if they are too many.
func explore(p *played) (e *explored, ok bool) {
	tasks := len(p.s.Tasks)
	e = &explored{p: p, known: make(map[string]int), ends: make([]bool, tasks)}
	e.visit()
	for state := 0; state < len(e.next); state++ {
		if len(e.next) > mostStates {
			return nil, false
		}
		for task := range tasks {
			e.restore(e.next[state])
			if !e.p.can(task) {
				continue
			}
			ended := e.p.ended[task]
			e.p.move(task)
			if e.p.ended[task] > ended {
				e.ends[task] = true
			}
			to := e.visit()
			e.from[to] = append(e.from[to], move{state, task})
		}
	}
	return e, true
}

// visit is the number of the present state.
func (e *explored) visit() int {
	m := moment{slices.Clone(e.p.at), make(map[string][]playedRequest)}
	var names []string
	for name, q := range e.p.queues {
		m.queues[name] = slices.Clone(*q)
		names = append(names, name)
	}
	slices.Sort(names)
	var key strings.Builder
	fmt.Fprint(&key, m.at)
	for _, name := range names {
		fmt.Fprint(&key, name, m.queues[name])
	}
	state, known := e.known[key.String()]
	if !known {
		state = len(e.next)
		e.known[key.String()] = state
		e.next, e.from = append(e.next, m), append(e.from, nil)
	}
	return state
}

func (e *explored) restore(m moment) {
	copy(e.p.at, m.at)
	for name, q := range m.queues {
		*e.p.queues[name] = slices.Clone(q)
	}
}

// neverLost reports whether in each state some schedule lets the task move.
func (e *explored) neverLost(task int) bool {
	can, left := make([]bool, len(e.next)), []int(nil)
	add := func(state int) {
		if !can[state] {
			can[state] = true
			left = append(left, state)
		}
	}
	for _, moves := range e.from {
		for _, m := range moves {
			if m.task == task {
				add(m.state)
			}
		}
	}
	for len(left) > 0 {
		state := left[len(left)-1]
		left = left[:len(left)-1]
		for _, m := range e.from[state] {
			add(m.state)
		}
	}
	return !slices.Contains(can, false)
}

var systems = rings.Seeds("liveness.systems", 120, 16_000, "TestAllSchedules: seeds of systems")

// Check agrees with all schedules of small systems. In an alive system no state is
// reached from which a task can never move again. In a dead one exactly the stuck tasks
// end no round in any schedule.
func TestAllSchedules(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	alive, only, dead, states := 0, 0, 0, 0
	for seed := range systems.All() {
		r := rand.New(rand.NewPCG(seed, 4))
		s := randomSystem(r)
		s.Tasks = s.Tasks[:min(len(s.Tasks), 2+r.IntN(2))]
		e, ok := explore(newPlayed(s))
		if !ok {
			continue
		}
		states += len(e.next)
		err := s.Check()
		var deadlock *DeadlockError
		switch {
		case err == nil:
			alive++
			if withoutSequences(s).Check() != nil {
				only++
			}
			for task := range s.Tasks {
				if !e.neverLost(task) || !e.ends[task] {
					t.Fatalf("seed %d: called alive, but task %d is lost in\n%s", seed, task, s)
				}
			}
		case errors.As(err, &deadlock):
			dead++
			stuck := len(s.Tasks)
			for _, ends := range e.ends[:stuck] {
				if ends {
					stuck--
				}
			}
			if stuck != deadlock.Stuck || stuck == 0 {
				t.Fatalf("seed %d: %d tasks end no round, but %v in\n%s", seed, stuck, err, s)
			}
		default:
			t.Fatal(err)
		}
	}
	t.Logf("%d systems alive, %d of them only by their sequences, %d dead; %d states", alive, only, dead, states)
	// A share need not have enough of each.
	if first, n := systems.Span(); first == 0 && (alive < n/3 || only < n/100 || dead < n/10) {
		t.Errorf("%d systems alive, %d of them only by their sequences, %d dead: too few", alive, only, dead)
	}
}
