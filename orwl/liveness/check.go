package liveness

import (
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/resource"
)

// Check plays one round of the system on empty FIFOs, from the first requests in
// their canonical order. It returns nil if the system then goes round for ever,
// however fast its tasks are, a [*DeadlockError] if it does not, and a
// [*SystemError] if it makes no sense.
//
// # Why one round is enough
//
// Two accesses to one resource conflict unless both read. A FIFO grants a request
// exactly if nothing ahead of it conflicts with it; which of several readers of a
// group comes first makes no difference to anybody. So only the order of
// conflicting requests matters, and it never changes: let x be ahead of y at
// first. Then their requests are, in the FIFO and in time,
//
//	x1 y1 x2 y2 x3 y3 ...
//
// For x2 is requested by the holder of x1, when y1 is there already. And y2 is
// requested by the holder of y1, thus after x1 was released, before which x2 was
// requested. And so on: x3 by the holder of x2, thus after y1 was released, before
// which y2 was requested. Readers that come round and join the last group, by
// which groups merge, do not change this, as they pass nothing that conflicts.
//
// Write (t, n) for round n of task t, and s → t if s has an access ahead of a
// conflicting one of t at first; s may be t. All accesses of t are granted for
// (t, n) exactly when these rounds are over:
//
//	(s, n)   for each s → t
//	(s, n-1) for each t → s, and (t, n-1)
//
// If → has no cycle, sort the tasks by it. Of the rounds that are not over take
// those of least n, and of them the first task's: it waits for nothing. So there
// is always a task that can go on, and any round of any task is over some time. If
// → has a cycle, its tasks' first rounds wait for each other: none of them ever
// runs even once, nor does what follows them by →.
//
// Both hold whatever else happens, and when: → is given by the first requests. So
// it does not matter which of the tasks that can fire does so first, nor how they
// take turns at their renewals while they fire. Letting each fire once when it can sorts the
// tasks by →. If all have fired, every FIFO has what it had at first but for the
// order among readers of a group: the state repeats.
//
// It follows that if s → t, s has done as many rounds as t, or one more.
//
// A task that renews some accesses before it is granted others still has its
// rounds one after another, and waits for no others than those above: it stays
// alive. It may even live where Check says that it would not, as Check is about
// tasks that hold all their accesses at once.
//
// If all priorities are equal, → leads from earlier tasks to later ones, and a
// cycle is a task that asks for one resource twice, and not only to read.
func (s System) Check() error {
	if err := s.validate(); err != nil {
		return err
	}
	r := newRound(s)
	r.play()
	if r.fired == len(s.Tasks) {
		if invariant.Enabled {
			invariant.Check(r.repeats(), "a round of %v does not lead back to its beginning", s)
		}
		return nil
	}
	return r.deadlock()
}

// round is a round of a system, each access of which has a number: those of a
// task follow one another, and those of tasks as well.
type round struct {
	system   System
	accesses []roundAccess
	begin    []int // of each task's accesses; one more at the end
	order    []First
	fifos    []FIFO

	missing []int // grants that each task lacks for its first round
	ready   []int // tasks that lack none and have not fired
	fired   int
}

type roundAccess struct {
	task int
	fifo *FIFO
	mode resource.Mode
}

// newRound is a system before its first request.
func newRound(s System) *round {
	n := s.accesses()
	r := &round{
		system: s, order: s.Order(),
		accesses: make([]roundAccess, 0, n), begin: make([]int, 0, len(s.Tasks)+1),
		missing: make([]int, len(s.Tasks)), ready: make([]int, 0, len(s.Tasks)),
	}
	numbers := make(map[string]int)
	fifo := make([]int, 0, n)
	for t, task := range s.Tasks {
		r.begin = append(r.begin, len(r.accesses))
		r.missing[t] = len(task.Accesses)
		for _, access := range task.Accesses {
			number, known := numbers[access.Resource]
			if !known {
				number = len(numbers)
				numbers[access.Resource] = number
			}
			fifo = append(fifo, number)
			r.accesses = append(r.accesses, roundAccess{task: t, mode: access.Mode})
		}
	}
	r.begin = append(r.begin, len(r.accesses))
	r.fifos = make([]FIFO, len(numbers))
	for i := range r.accesses {
		r.accesses[i].fifo = &r.fifos[fifo[i]]
	}
	return r
}

// play makes the first requests and lets each task that can fire do so, once.
func (r *round) play() {
	for t, missing := range r.missing {
		if missing == 0 {
			r.ready = append(r.ready, t)
		}
	}
	var granted []resource.ID
	for _, f := range r.order {
		id := r.number(f)
		access := &r.accesses[id]
		granted = r.step(access.fifo.Request(resource.ID(id), access.mode, granted[:0]))
	}
	for len(r.ready) > 0 {
		t := r.ready[len(r.ready)-1]
		r.ready = r.ready[:len(r.ready)-1]
		r.fired++
		for id := r.begin[t]; id < r.begin[t+1]; id++ {
			access := &r.accesses[id]
			granted = r.step(access.fifo.Renew(resource.ID(id), r.second(id), access.mode, granted[:0]))
		}
	}
}

// step counts what a step has granted.
func (r *round) step(granted []resource.ID, err error) []resource.ID {
	if err != nil {
		panic(err) // every request is made once, and released when it is granted
	}
	for _, id := range granted {
		if int(id) >= len(r.accesses) {
			continue // for the second round
		}
		t := r.accesses[id].task
		if r.missing[t]--; r.missing[t] == 0 {
			r.ready = append(r.ready, t)
		}
	}
	return granted
}

// number is the ID of an access's first request.
func (r *round) number(f First) int { return r.begin[f.Task] + f.Access }

// second is the ID of an access's request for the second round.
func (r *round) second(id int) resource.ID { return resource.ID(len(r.accesses) + id) }

// repeats reports whether every FIFO has, group by group, the requests that it
// had at first.
func (r *round) repeats() bool {
	first := newRound(r.system)
	for _, f := range first.order {
		id := first.number(f)
		if _, err := first.accesses[id].fifo.Request(resource.ID(id), first.accesses[id].mode, nil); err != nil {
			return false
		}
	}
	for i := range r.fifos {
		groups := make(map[resource.ID]int)
		first.fifos[i].All(func(group int, _ resource.Mode, id resource.ID) bool {
			groups[id] = group
			return true
		})
		same := r.fifos[i].Len() == len(groups)
		r.fifos[i].All(func(group int, _ resource.Mode, id resource.ID) bool {
			at, there := groups[id-r.second(0)]
			same = same && there && at == group
			return same
		})
		if !same {
			return false
		}
	}
	return true
}
