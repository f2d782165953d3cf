package liveness

import "github.com/orwl/go-orwl/resource"

// round is one round of a system. Each access has a number: the numbers go through the
// tasks in order, and through the accesses of each task.
type round struct {
	system   System
	accesses []roundAccess
	begin    []int // the number of each task's first access; then the number of accesses
	order    []First
	fifos    []FIFO

	steps   [][]Step // of each task
	at      []int    // the step that each task does next
	missing []int    // the grants that each task waits for in that step
	ready   []int    // the tasks that do not wait and have not ended the round
	ended   int      // the number of tasks that have ended the round
}

type roundAccess struct {
	task     int
	fifo     *FIFO
	mode     resource.Mode
	acquired int  // the step that acquires it
	granted  bool // at some time of the round
}

// newRound makes the round of a system, before its first request.
func newRound(s System) *round {
	n := s.accesses()
	r := &round{
		system: s, order: s.round(),
		accesses: make([]roundAccess, 0, n), begin: make([]int, 0, len(s.Tasks)+1),
		steps: make([][]Step, len(s.Tasks)), at: make([]int, len(s.Tasks)),
		missing: make([]int, len(s.Tasks)), ready: make([]int, 0, len(s.Tasks)),
	}
	numbers := make(map[string]int)
	fifo := make([]int, 0, n)
	for t, task := range s.Tasks {
		r.begin = append(r.begin, len(r.accesses))
		for _, access := range task.Accesses {
			number, known := numbers[access.Resource]
			if !known {
				number = len(numbers)
				numbers[access.Resource] = number
			}
			fifo = append(fifo, number)
			r.accesses = append(r.accesses, roundAccess{task: t, mode: access.Mode})
		}
		r.steps[t] = task.steps()
		for i, step := range r.steps[t] {
			if step.Op == Acquire {
				for _, a := range step.Accesses {
					r.accesses[r.begin[t]+a].acquired = i
				}
			}
		}
	}
	r.begin = append(r.begin, len(r.accesses))
	r.fifos = make([]FIFO, len(numbers))
	for i := range r.accesses {
		r.accesses[i].fifo = &r.fifos[fifo[i]]
	}
	return r
}

// play makes the first requests. Then it takes each task once through its steps. Each
// task goes on as soon as it can.
func (r *round) play() {
	var granted []resource.ID
	for _, f := range r.order {
		id := r.number(f)
		access := &r.accesses[id]
		granted = r.note(access.fifo.Request(resource.ID(id), access.mode, granted[:0]))
	}
	for t := range r.steps {
		r.ready = append(r.ready, t)
	}
	for len(r.ready) > 0 {
		t := r.ready[len(r.ready)-1]
		r.ready = r.ready[:len(r.ready)-1]
		granted = r.advance(t, granted)
	}
}

// advance takes a task through its steps until it waits or has ended the round.
func (r *round) advance(t int, granted []resource.ID) []resource.ID {
	for ; r.at[t] < len(r.steps[t]); r.at[t]++ {
		for _, a := range r.steps[t][r.at[t]].Accesses {
			id := r.begin[t] + a
			access := &r.accesses[id]
			if r.steps[t][r.at[t]].Op == Release {
				granted = r.note(access.fifo.Renew(resource.ID(id), r.second(id), access.mode, granted[:0]))
			} else if !access.granted {
				r.missing[t]++
			}
		}
		if r.missing[t] > 0 {
			return granted
		}
	}
	r.ended++
	return granted
}

// note notes what a queue has granted. A task that waits for nothing any more is ready
// for its next step.
func (r *round) note(granted []resource.ID, err error) []resource.ID {
	if err != nil {
		panic(err) // play makes each request once, and releases it after its grant
	}
	for _, id := range granted {
		if int(id) >= len(r.accesses) {
			continue // a grant of the second round
		}
		access := &r.accesses[id]
		access.granted = true
		t := access.task
		if r.missing[t] == 0 || access.acquired != r.at[t] {
			continue // the task does not wait for it now
		}
		if r.missing[t]--; r.missing[t] == 0 {
			r.at[t]++
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
