package plan

import (
	"fmt"
	"math"
	"slices"
)

// Program is what a plan is made of. Tasks, accesses and resources have numbers, from 0.
type Program struct {
	Tasks     []Task
	Accesses  []Access // task by task, each in the order of its task
	Order     []uint32 // the accesses in their start order; nil if they stand in it
	Resources int      // how many the accesses name
	// Homes are the nodes that keep the resources, in a program on several nodes; nil on one node.
	Homes []int32
}

// Task is a task of a program.
type Task struct {
	Rounds int  // or Open
	Apart  bool // its body acquires and releases the accesses one by one, in any order
	Node   int  // where it runs, in a program on several nodes
	Ahead  Ahead
}

// Access is what a task does with a resource in each round.
type Access struct {
	Task, Resource uint32
	Writes         bool
}

// Ahead says that a task is at most so many rounds ahead of another one, which runs on the same node and does not wait for it
// in return: round k begins when the other one has published round k - Most. If Most is 0, the task is free.
type Ahead struct {
	Of   int // the other task
	Most int
}

// Open is the number of rounds of a task that says only while it runs when it ends.
const Open = -1

// Ended is what a counter publishes whose access has ended: it is done for ever, and a condition may add its lag.
const Ended = math.MaxUint32 - MostAhead

// most is the greatest number of accesses of a resource whose conditions are all kept if their
// rounds differ.
const most = 16

// Plan is the conditions of a program. Tasks, accesses and counters are counted from 0.
type Plan struct {
	own      []uint32 // by task: its first counter; and the end of the last one's
	begin    []uint32 // by counter: its first condition; and the end of the last one
	when     []Condition
	turns    []uint32 // by counter
	counters int
	nodes    *nodes // nil on one node
}

// Condition is what a counter waits for: another one has published round k, or is at most so many rounds behind.
//
//	counter, 26 bits │ lag, 6 bits
type Condition uint32

const (
	lagBits = 6

	// MostAhead is the most that Ahead takes.
	MostAhead = 1<<lagBits - 1
)

func condition(counter uint32, lag uint32) Condition { return Condition(counter<<lagBits | lag) }

// Counter is the counter that has to publish.
func (c Condition) Counter() int { return int(c >> lagBits) }

// Lag is how many rounds it may be behind. The queues of resources make conditions of 0 and 1.
func (c Condition) Lag() uint32 { return uint32(c & MostAhead) }

// Met reports whether the condition is met in round k, counted from 1, if its counter has published
// the round done.
func (c Condition) Met(k, done uint32) bool { return done+c.Lag() >= k }

// Counters is how many counters there are.
func (p *Plan) Counters() int { return p.counters }

// Counter is the counter of a task's access.
func (p *Plan) Counter(task, access int) int {
	if p.countersOf(task) > 1 { // one for each access
		return int(p.own[task]) + access
	}
	return int(p.own[task])
}

// countersOf is how many counters a task has.
func (p *Plan) countersOf(task int) int { return int(p.own[task+1] - p.own[task]) }

// When are the conditions of a counter.
func (p *Plan) When(counter int) []Condition {
	return p.when[p.begin[counter]:p.begin[counter+1]]
}

// All are the conditions of all counters, one counter after another, and where those of each begin; and the end. Nobody changes them.
func (p *Plan) All() (when []Condition, begin []uint32) { return p.when, p.begin }

// Turns is how many rounds the counter publishes at least: others rely on its own conditions. If its
// task ends before, it goes on with empty turns, until then or until no task has a round left. A
// counter that has published as many when its task ends is done for ever.
func (p *Plan) Turns(counter int) uint32 { return p.turns[counter] }

// forever is more rounds than any task has.
const forever = math.MaxUint32

// New makes the plan of a program. The plan of one that can deadlock waits for ever, as its queues would: see
// [liveness.System.Check]. On several nodes the plan is the same on each.
func New(p Program) *Plan { return newPlan(p, most) }

func newPlan(p Program, most int) *Plan {
	d := newDraft(p)
	d.found = func(of uint32, _ Condition) { d.begin[of+1]++ }
	d.find(most)
	for c := range d.counters {
		d.begin[c+1] += d.begin[c]
	}
	d.when = make([]Condition, d.begin[d.counters])
	next := slices.Clone(d.begin)
	d.found = func(of uint32, when Condition) {
		d.when[next[of]] = when
		next[of]++
	}
	d.find(most)
	return d.plan()
}

// draft is a plan in the making.
type draft struct {
	*Plan
	program Program

	counter []uint32 // by access
	places  []uint32 // by resource: where its accesses begin in order; and the end
	order   []uint32 // the accesses of each resource, in their start order

	// found takes each condition of a counter. All are found twice: first they are counted, and then
	// they are kept.
	found func(of uint32, when Condition)
}

// newDraft numbers the counters, and deals the accesses to the resources. A task without rounds has no access in any queue.
func newDraft(program Program) *draft {
	tasks, accesses := len(program.Tasks), program.Accesses
	d := &draft{
		Plan:    &Plan{own: make([]uint32, tasks+1), nodes: newNodes(program)},
		program: program, counter: make([]uint32, len(accesses)),
	}
	crosses := program.crossing()
	at := 0
	for t, task := range d.program.Tasks {
		apart := task.Apart || crosses != nil && crosses[t]
		d.counters++ // a task without accesses has one, too
		for begin := at; at < len(accesses) && accesses[at].Task == uint32(t); at++ {
			if at > begin && apart {
				d.counters++
			}
			d.counter[at] = uint32(d.counters - 1)
		}
		d.own[t+1] = uint32(d.counters)
	}
	if at != len(accesses) {
		panic(fmt.Sprintf("plan: access %d is one of task %d: want them task by task, and %d tasks", at, accesses[at].Task, tasks))
	}
	if most := math.MaxUint32 >> lagBits; d.counters > most {
		panic(fmt.Sprintf("plan: %d counters, want %d at most", d.counters, most))
	}
	d.turns, d.begin = make([]uint32, d.counters), make([]uint32, d.counters+1)
	d.deal()
	d.nodes.keep(d)
	return d
}

// deal deals the accesses to their resources.
func (d *draft) deal() {
	d.places = make([]uint32, d.program.Resources+1)
	for _, a := range d.program.Accesses {
		if d.program.Tasks[a.Task].Rounds != 0 {
			d.places[a.Resource+1]++
		}
	}
	for r := range d.program.Resources {
		d.places[r+1] += d.places[r]
	}
	d.order = make([]uint32, d.places[d.program.Resources])
	next := slices.Clone(d.places)
	for i := range d.program.Accesses {
		a := uint32(i)
		if d.program.Order != nil {
			a = d.program.Order[i]
		}
		if r := d.program.Accesses[a].Resource; d.task(a).Rounds != 0 {
			d.order[next[r]] = a
			next[r]++
		}
	}
}

// task is the task of an access.
func (d *draft) task(access uint32) *Task { return &d.program.Tasks[d.program.Accesses[access].Task] }

func (d *draft) writes(access uint32) bool { return d.program.Accesses[access].Writes }

// queue is the accesses of a resource in their start order.
func (d *draft) queue(r int) []uint32 { return d.order[d.places[r]:d.places[r+1]] }

// alike reports whether all accesses have the same fixed rounds.
func (d *draft) alike(q []uint32) bool {
	if len(q) == 0 {
		return false
	}
	for _, a := range q {
		if n := d.task(a).Rounds; n == Open || n != d.task(q[0]).Rounds {
			return false
		}
	}
	return true
}

// find finds the conditions of all accesses, and how many turns their counters publish.
func (d *draft) find(most int) {
	for r := range d.program.Resources {
		q := d.queue(r)
		turns := uint32(forever)
		switch {
		case d.alike(q):
			turns = uint32(d.task(q[0]).Rounds)
		case len(q) <= most:
			d.all(q)
			continue
		}
		d.nearest(q)
		if len(q) < 3 {
			continue // the nearest are all
		}
		for _, a := range q {
			c := d.counter[a]
			d.turns[c] = max(d.turns[c], turns)
		}
	}
	for t, task := range d.program.Tasks {
		if task.Ahead != (Ahead{}) {
			d.ahead(t, task.Ahead)
		}
	}
}

// ahead finds the conditions of a task that is not too far ahead of another one.
func (d *draft) ahead(task int, a Ahead) {
	if a.Most < 1 || a.Most > MostAhead || d.nodes != nil && d.program.Tasks[a.Of].Node != d.program.Tasks[task].Node {
		panic(fmt.Sprintf("plan: task %d is at most %d rounds ahead of task %d: want 1 to %d, on one node", task, a.Most, a.Of, MostAhead))
	}
	if d.program.Tasks[a.Of].Rounds == 0 {
		return
	}
	for of := d.own[task]; of < d.own[task+1]; of++ {
		for on := d.own[a.Of]; on < d.own[a.Of+1]; on++ {
			d.found(of, condition(on, uint32(a.Most)))
		}
	}
}

// all finds the conditions on all conflicting accesses.
func (d *draft) all(q []uint32) {
	for i := range q {
		for j := range q {
			if d.writes(q[i]) || d.writes(q[j]) {
				d.waits(q, i, j)
			}
		}
	}
}

// nearest finds the conditions on the nearest conflicting group before each access. The order goes
// round: the last access of the round before stands before the first one.
func (d *draft) nearest(q []uint32) {
	writer := -1 // the last writer before, in this round or the one before
	for i, a := range q {
		if d.writes(a) {
			writer = i
		}
	}
	if writer < 0 {
		return
	}
	for i, a := range q {
		before := (i + len(q) - 1) % len(q)
		switch {
		case !d.writes(a):
			d.waits(q, i, writer)
			continue
		case d.writes(q[before]):
			d.waits(q, i, before)
		default:
			for j := before; !d.writes(q[j]); j = (j + len(q) - 1) % len(q) {
				d.waits(q, i, j)
			}
			if d.elsewhere(a, q[writer]) {
				d.waits(q, i, writer) // its bytes
			}
		}
		writer = i
	}
}

// waits notes that access i of a queue waits for access j.
func (d *draft) waits(q []uint32, i, j int) {
	of, on := d.counter[q[i]], d.counter[q[j]]
	lag := uint32(0)
	if j >= i {
		lag = 1
	}
	if of == on && lag == 1 {
		return // a task has ended its round before
	}
	d.found(of, condition(on, lag))
}

// plan sorts the conditions of each counter. If two are on the same counter, the one with less lag is
// the stronger, and the first.
func (d *draft) plan() *Plan {
	p, end := d.Plan, uint32(0)
	for c := range p.counters {
		all := p.when[p.begin[c]:p.begin[c+1]]
		slices.Sort(all)
		all = slices.CompactFunc(all, func(x, y Condition) bool { return x.Counter() == y.Counter() })
		p.begin[c] = end
		end += uint32(copy(p.when[end:], all))
	}
	p.begin[p.counters] = end
	p.when = slices.Clone(p.when[:end])
	return p
}
