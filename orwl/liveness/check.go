package liveness

import (
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/resource"
)

// Check plays one round of the system on empty FIFOs, from the first requests in
// canonical order. It returns nil if the system goes round for ever, whatever the
// speed of its tasks. It returns a [*DeadlockError] if the system comes to a stop, and
// a [*SystemError] if the system is not well formed.
//
// # Why one round is enough
//
// Two accesses to one resource conflict unless both read. A FIFO grants a request
// exactly if nothing ahead of it conflicts with it. The order among readers of a group
// does not matter. So only the order of conflicting requests matters, and it never
// changes. Let x be ahead of y at first. Then their requests are, in the FIFO and in
// time,
//
//	x1 y1 x2 y2 x3 y3 ...
//
// The holder of x1 requests x2. At that time y1 is in the queue. The holder of y1
// requests y2. This is after the release of x1, and so after the request of x2. In the
// same way, the holder of x2 requests x3. This is after the release of y1, and so
// after the request of y2. And so on. A reader that comes round may join the last
// group, and groups may merge. The order does not change by this: the reader passes
// nothing that conflicts with it.
//
// Write (t, n) for round n of task t. Write s → t if at first an access of s is ahead
// of a conflicting access of t; s may be t. All accesses of t are granted for (t, n)
// exactly when these rounds are over:
//
//	(s, n)   for each s → t
//	(s, n-1) for each t → s, and (t, n-1)
//
// Suppose that → has no cycle. Sort the tasks by it. Take the rounds that are not
// over, of these the rounds with the least n, and of these the round of the first
// task. It waits for nothing. So at any time some task can go on, and every round of
// every task ends.
//
// Suppose that → has a cycle. Then the first rounds of its tasks wait for one another.
// None of these tasks ever runs, and no task that follows them by → runs.
//
// Both conclusions hold for every schedule, because the first requests alone determine
// →. If several tasks can fire, it does not matter which task fires first, or how
// their renewals interleave. Check lets each task fire once, as soon as it can. This
// sorts the tasks by →. When all have fired, every FIFO holds what it held at first,
// except for the order among readers of a group: the state repeats.
//
// It follows that if s → t, s has done as many rounds as t, or one more.
//
// A task may renew some accesses before others are granted. Its rounds still follow
// one another and wait only for the rounds above, so it stays alive. Such a system may
// live although Check says that it stops: Check is about tasks that hold all their
// accesses at once.
//
// If all priorities are equal, → leads from earlier tasks to later ones. Then a cycle
// is a single task that requests one resource twice, at least once to write.
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

// round is one round of a system. Each access has a number: the numbers go through the
// tasks in order, and through the accesses of each task.
type round struct {
	system   System
	accesses []roundAccess
	begin    []int // the number of each task's first access; then the number of accesses
	order    []First
	fifos    []FIFO

	missing []int // the grants that each task still needs for its first round
	ready   []int // the tasks that have all grants and have not fired
	fired   int
}

type roundAccess struct {
	task int
	fifo *FIFO
	mode resource.Mode
}

// newRound makes the round of a system, before its first request.
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

// play makes the first requests. Then it lets each task fire once, as soon as the task
// has all grants.
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
		panic(err) // play makes each request once, and releases it after its grant
	}
	for _, id := range granted {
		if int(id) >= len(r.accesses) {
			continue // a grant of the second round
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

// repeats reports whether every FIFO has, group by group, the same requests as at
// first.
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
