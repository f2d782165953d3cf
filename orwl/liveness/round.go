package liveness

import (
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/resource"
)

// round is one round of a system. Each access has a number, from 1: the numbers go through
// the tasks in order, and through the accesses of each task. It is also the number of the
// access's first request. Its request for the second round comes after all of these.
type round struct {
	system   System
	accesses []roundAccess // by number; there is no access 0
	begin    []number      // the number of each task's first access; then the number after the last access
	order    []First
	queues   []queue
	requests []request // of all queues

	steps   [][]Step // of each task
	at      []int    // the step that each task does next
	missing []int    // the grants that each task waits for in that step
	ready   []int    // the tasks that do not wait and have not ended the round
	ended   int      // the number of tasks that have ended the round
	news    []number // the requests that a release has granted
}

type roundAccess struct {
	task     int32
	queue    int32
	acquired int32 // the step that acquires it
	mode     resource.Mode
	granted  bool // at some time of the round
}

// newRound makes the round of a system, before its first request.
func newRound(s System) *round {
	n, tasks := s.accesses(), len(s.Tasks)
	r := &round{
		system: s, order: s.Order(),
		accesses: make([]roundAccess, 1, n+1), begin: make([]number, 0, tasks+1), requests: make([]request, 2*n+1),
		steps: s.steps(), at: make([]int, tasks), missing: make([]int, tasks), ready: make([]int, 0, tasks),
	}
	numbers := make(map[string]int32, n/2) // mostly a resource has two accesses or more
	for t, task := range s.Tasks {
		r.begin = append(r.begin, number(len(r.accesses)))
		for _, access := range task.Accesses {
			queue, known := numbers[access.Resource]
			if !known {
				queue = int32(len(numbers))
				numbers[access.Resource] = queue
			}
			r.accesses = append(r.accesses, roundAccess{task: int32(t), queue: queue, mode: access.Mode})
		}
		for i, step := range r.steps[t] {
			if step.Op == Acquire {
				for _, a := range step.Accesses {
					r.accesses[r.begin[t]+number(a)].acquired = int32(i)
				}
			}
		}
	}
	r.begin = append(r.begin, number(len(r.accesses)))
	r.queues = make([]queue, len(numbers))
	return r
}

// play makes the first requests. Then it takes each task once through its steps. Each
// task goes on as soon as it can.
func (r *round) play() {
	for _, f := range r.order {
		r.request(r.number(f))
	}
	for t := range r.steps {
		r.ready = append(r.ready, t)
	}
	for len(r.ready) > 0 {
		t := r.ready[len(r.ready)-1]
		r.ready = r.ready[:len(r.ready)-1]
		r.advance(t)
	}
}

// request makes the first request of an access.
func (r *round) request(n number) {
	access := &r.accesses[n]
	access.granted = r.queues[access.queue].add(r.requests, n, access.mode)
}

// renew requests an access for the second round, and then releases it.
func (r *round) renew(n number) {
	access := &r.accesses[n]
	q := &r.queues[access.queue]
	q.add(r.requests, r.second(n), access.mode)
	r.news = q.remove(r.requests, n, r.news[:0])
	for _, n := range r.news {
		r.note(n)
	}
}

// advance takes a task through its steps until it waits or has ended the round.
func (r *round) advance(t int) {
	for ; r.at[t] < len(r.steps[t]); r.at[t]++ {
		step := &r.steps[t][r.at[t]]
		for _, a := range step.Accesses {
			n := r.begin[t] + number(a)
			if step.Op == Release {
				r.renew(n)
			} else if !r.accesses[n].granted {
				r.missing[t]++
			}
		}
		if r.missing[t] > 0 {
			return
		}
	}
	r.ended++
}

// note notes a grant. A task that waits for nothing any more is ready for its next step.
func (r *round) note(n number) {
	if int(n) >= len(r.accesses) {
		return // a grant of the second round
	}
	access := &r.accesses[n]
	access.granted = true
	t := access.task
	if r.missing[t] == 0 || int(access.acquired) != r.at[t] {
		return // the task does not wait for it now
	}
	if r.missing[t]--; r.missing[t] == 0 {
		r.at[t]++
		r.ready = append(r.ready, int(t))
	}
}

// number is the number of an access, and of its first request.
func (r *round) number(f First) number { return r.begin[f.Task] + number(f.Access) }

// second is the number of an access's request for the second round.
func (r *round) second(n number) number { return n + number(len(r.accesses)) - 1 }

// repeats reports whether every queue has, group by group, the same requests as at
// first.
func (r *round) repeats() bool {
	first := newRound(r.system)
	for _, f := range first.order {
		first.request(first.number(f))
	}
	for i := range r.queues {
		groups := make(map[number]int)
		first.queues[i].each(first.requests, func(group int, n number) bool {
			groups[r.second(n)] = group
			return true
		})
		same, count := true, 0
		r.queues[i].each(r.requests, func(group int, n number) bool {
			at, there := groups[n]
			same = same && there && at == group
			count++
			return same
		})
		if !same || count != len(groups) {
			return false
		}
	}
	return true
}

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
// nothing that conflicts with it. This holds for tasks of any kind, if they renew what
// they release.
//
// Write (e, n) for step e of a task in its round n. The step can be done exactly when
// these are over:
//
//	(d, n)    for the step d before e in the task
//	(d, n-1)  for the last step d of the task, if e is its first
//	(d, n)    for each d that releases x, if e acquires y and x was ahead of y at first
//	(d, n-1)  for each d that releases x, if e acquires y and y was ahead of x at first
//
// Here x and y conflict, and x may be an access of the same task. Write d → e if (e, n)
// waits for (d, n), in the same round: the first and the third line. So → is the same
// in all rounds, and the other two lines lead to an earlier round.
//
// Suppose that → has no cycle. Sort all steps by it. Take the steps that are not over,
// of these the steps with the least n, and of these the first one. It waits for
// nothing. So at any time some step can be done. A step that can be done stays so
// until it is done, since a step takes no grant from others. By induction over n and
// the sorted steps, every step of every round is done some time.
//
// Suppose that → has a cycle. Then the steps of the cycle wait for one another in round
// 1. They are never done, and no step is done that follows them by →. A task with such
// a step never ends a round.
//
// Both conclusions hold for every schedule, because the first requests and the
// sequences alone determine →. Check lets each task do the steps of one round, each as
// soon as it can. In round 1 only → can make a step wait, so all steps are done exactly
// if → has no cycle. At the end every FIFO holds what it held at first, except for the
// order among readers of a group: the state repeats.
//
// It follows that if x was ahead of y at first, x has been released as often as y, or
// once more.
//
// # Tasks without a Sequence
//
// Such a task does two steps: it acquires all, and it releases all. It may as well
// acquire and release its accesses one by one, in an order that changes from round to
// round. Then it holds less at once, each of its steps waits for no more than the two
// steps do, and it stays alive. Such a system may live although Check says that it
// stops. A Sequence lets Check see this.
//
// If all priorities are equal, a task waits in a round only for earlier tasks and for
// itself. Then a cycle is a single task with two accesses to one resource, at least one
// of them to write. It acquires the second access before it releases the first.
func (s System) Check() error {
	if err := s.validate(); err != nil {
		return err
	}
	r := newRound(s)
	r.play()
	if r.ended == len(s.Tasks) {
		if invariant.Enabled {
			invariant.Check(r.repeats(), "a round of %v does not lead back to its beginning", s)
		}
		return nil
	}
	return r.deadlock()
}
