package play

import (
	"errors"
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// Answer is what the page gets.
type Answer = map[string]any

// mostAccesses is how many accesses a system of the page has at most.
const mostAccesses = 400

// Check proves that a system of tasks goes round for ever, or finds the circle in which tasks would wait for each other.
//
//	error: why the text is no system
//	alive, words: the verdict; advice: what to do
//	cycle: a list of task, resource, mode, words
func Check(text string) Answer {
	s, bad := parse(text)
	if bad != nil {
		return bad
	}
	err := s.Check()
	var deadlock *liveness.DeadlockError
	switch {
	case err == nil:
		words := "Alive: the task goes round for ever."
		if n := len(s.Tasks); n > 1 {
			words = fmt.Sprintf("Alive: the %d tasks take turns for ever, whatever their speed.", n)
		}
		return Answer{"alive": true, "words": words}
	case !errors.As(err, &deadlock):
		return Answer{"error": plain(err)}
	}
	var cycle []any
	for _, w := range deadlock.Cycle {
		cycle = append(cycle, Answer{"task": w.Task, "resource": w.Resource, "mode": w.Mode.String(), "words": w.String()})
	}
	said := strings.Split(err.Error(), "\n\t")
	words := "Refused: the task would wait for ever."
	if deadlock.Tasks > 1 {
		words = fmt.Sprintf("Refused: of %d tasks, %d would wait for ever.", deadlock.Tasks, deadlock.Stuck)
	}
	return Answer{"alive": false, "cycle": cycle, "words": words, "advice": said[len(said)-1]}
}

// parse reads a system, or returns what is wrong.
func parse(text string) (s liveness.System, bad Answer) {
	s, err := liveness.Parse(strings.NewReader(text))
	if err != nil {
		return s, Answer{"error": plain(err)}
	}
	accesses := 0
	for _, t := range s.Tasks {
		accesses += len(t.Accesses)
	}
	switch {
	case len(s.Tasks) == 0:
		return s, Answer{"error": "no task is described: a line is such as \"task a: write x, read y\""}
	case accesses > mostAccesses:
		return s, Answer{"error": fmt.Sprintf("the page shows up to %d accesses, and this has %d: use orwl vet", mostAccesses, accesses)}
	}
	return s, nil
}

// plain is an error without the name of the package.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "liveness: ") }

// Player plays a system step by step: in each step a task acquires, or it announces its next accesses and releases.
type Player struct {
	queues []*playedQueue
	byName map[string]*playedQueue
	tasks  []*playedTask
}

// playedQueue is the queue of a resource.
type playedQueue struct {
	name    string
	fifo    liveness.FIFO
	members map[queue.ID]*playedAccess // by the numbers of their requests
	next    queue.ID
}

type playedTask struct {
	task     *liveness.Task
	accesses []*playedAccess
	steps    []liveness.Step
	at       int // the next step
	rounds   int
}

type playedAccess struct {
	liveness.Access
	of      *playedTask
	queue   *playedQueue
	request queue.ID
	held    bool
}

// NewPlayer makes the first requests of a system. bad says why it is none.
func NewPlayer(text string) (p *Player, bad Answer) {
	s, bad := parse(text)
	if bad != nil {
		return nil, bad
	}
	if err := s.Check(); err != nil && !errors.As(err, new(*liveness.DeadlockError)) {
		return nil, Answer{"error": plain(err)}
	}
	p = &Player{byName: make(map[string]*playedQueue)}
	for i := range s.Tasks {
		t := &playedTask{task: &s.Tasks[i], steps: s.Tasks[i].Sequence}
		var all []int
		for n, a := range t.task.Accesses {
			t.accesses = append(t.accesses, &playedAccess{Access: a, of: t, queue: p.queue(a.Resource)})
			all = append(all, n)
		}
		if len(t.steps) == 0 {
			t.steps = []liveness.Step{{Op: liveness.Acquire, Accesses: all}, {Op: liveness.Release, Accesses: all}}
		}
		p.tasks = append(p.tasks, t)
	}
	for _, first := range s.Order() {
		p.tasks[first.Task].accesses[first.Access].ask()
	}
	return p, nil
}

func (p *Player) queue(name string) *playedQueue {
	q := p.byName[name]
	if q == nil {
		q = &playedQueue{name: name, members: make(map[queue.ID]*playedAccess), next: 1}
		p.byName[name] = q
		p.queues = append(p.queues, q)
	}
	return q
}

// number gives an access the number of a new request.
func (a *playedAccess) number() queue.ID {
	n := a.queue.next
	a.queue.next++
	a.queue.members[n] = a
	return n
}

// ask makes the first request.
func (a *playedAccess) ask() {
	a.request = a.number()
	if _, err := a.queue.fifo.Request(a.request, a.Mode, nil); err != nil {
		panic(err) // the number is new
	}
}

// renew announces the next access, and then releases this one.
func (a *playedAccess) renew() {
	before := a.request
	a.request, a.held = a.number(), false
	if _, err := a.queue.fifo.Renew(before, a.request, a.Mode, nil); err != nil {
		panic(err) // it was granted
	}
	delete(a.queue.members, before)
}

func (a *playedAccess) granted() bool {
	granted, _ := a.queue.fifo.Granted(a.request)
	return granted
}

// short is the first access that the next step needs and that is not granted, or nil.
func (t *playedTask) short() *playedAccess {
	step := t.steps[t.at]
	for _, n := range step.Accesses {
		if a := t.accesses[n]; step.Op == liveness.Acquire && !a.granted() {
			return a
		}
	}
	return nil
}

// Step lets a task take its next step, by its number from 0. It reports whether the task could.
func (p *Player) Step(task int) bool {
	if task < 0 || task >= len(p.tasks) {
		return false
	}
	t := p.tasks[task]
	if len(t.accesses) == 0 || t.short() != nil {
		return false
	}
	step := t.steps[t.at]
	for _, n := range step.Accesses {
		if step.Op == liveness.Acquire {
			t.accesses[n].held = true
		} else {
			t.accesses[n].renew()
		}
	}
	if t.at++; t.at == len(t.steps) {
		t.at = 0
		t.rounds++
	}
	return true
}

// State is where the tasks and the queues are.
//
//	tasks: a list of name, round, can, does
//	queues: a list of resource, groups; a group has mode, granted, members; a member has task, held
func (p *Player) State() Answer {
	var tasks, queues []any
	for _, t := range p.tasks {
		a := Answer{"name": t.task.Name, "round": t.rounds + 1, "can": len(t.accesses) > 0, "does": "has no access"}
		if len(t.accesses) > 0 {
			step, short := t.steps[t.at], t.short()
			switch {
			case short != nil:
				a["can"], a["does"] = false, fmt.Sprintf("waits to %v %s", short.Mode, short.Resource)
			case step.Op == liveness.Acquire:
				a["does"] = "may acquire"
			default:
				a["does"] = "works, then announces and releases"
			}
		}
		tasks = append(tasks, a)
	}
	for _, q := range p.queues {
		groups := []any{}
		last := -1
		q.fifo.All(func(group int, mode queue.Mode, id queue.ID) bool {
			member := q.members[id]
			granted := member.request == id && member.granted()
			if group != last {
				groups = append(groups, Answer{"mode": mode.String(), "granted": granted, "members": []any{}})
				last = group
			}
			g := groups[len(groups)-1].(Answer)
			g["members"] = append(g["members"].([]any), Answer{"task": member.of.task.Name, "held": member.held && member.request == id})
			return true
		})
		queues = append(queues, Answer{"resource": q.name, "groups": groups})
	}
	return Answer{"tasks": tasks, "queues": queues}
}
