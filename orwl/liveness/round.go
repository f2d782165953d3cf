package liveness

import "github.com/orwl/go-orwl/resource"

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
