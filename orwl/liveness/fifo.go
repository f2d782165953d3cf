package liveness

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/resource"
)

// FIFO is the order of a resource's grants, as a step function. A step takes a
// request, a release or a cancellation, and returns the requests that it grants. The
// zero value is an empty queue.
//
// The queue consists of groups: a group is one writer, or adjacent readers. All of
// the first group is granted.
//
//	granted ─▶ │ r r r │ ─▶ │ w │ ─▶ │ r r │ ◀─ open: the next reader joins it
//
// Two groups of readers are never neighbours: a reader joins the last group if this
// group reads, and a cancellation joins two groups that it makes neighbours. Two
// requests conflict unless both read. So a request is granted exactly if nothing
// ahead of it conflicts with it.
//
// [System.Check] plays the same queue, with requests that have no IDs.
//
// A step that fails changes nothing.
type FIFO struct {
	queue    queue
	numbers  map[coherence.ID]number // of the requests in the queue
	requests []request               // by number
	ids      []coherence.ID          // by number
	free     []number                // the numbers that are in no use
	news     []number                // for remove
}

// Request queues a request. It appends the request to granted if the queue grants it
// at once. The caller chooses an ID that is not in the queue.
func (q *FIFO) Request(id coherence.ID, m resource.Mode, granted []coherence.ID) ([]coherence.ID, error) {
	if m > resource.Write {
		return granted, fmt.Errorf("%w: %d, by request %d: want Read or Write", coherence.ErrMode, uint8(m), id)
	}
	if _, queued := q.numbers[id]; queued {
		return granted, fmt.Errorf("%w: %d: choose an ID that is not in use", coherence.ErrQueued, id)
	}
	if q.queue.add(q.requests, q.take(id), m) {
		granted = append(granted, id)
	}
	return granted, nil
}

// Release ends an access. If the request was the last of its group, Release grants
// the next group and appends it to granted.
func (q *FIFO) Release(id coherence.ID, granted []coherence.ID) ([]coherence.ID, error) {
	n := q.numbers[id]
	switch {
	case n == 0:
		return granted, fmt.Errorf("%w: %d: release each request once", coherence.ErrNotQueued, id)
	case !q.requests[n].granted:
		return granted, fmt.Errorf("%w: %d: wait for it, or cancel it", coherence.ErrNotGranted, id)
	}
	return q.remove(n, granted), nil
}

// Renew requests next and then releases id: the step of a pair. No other step comes
// between the two, and the requests that wait for id are ahead of next. So requests
// that renew take turns for ever, in the order of their first requests.
func (q *FIFO) Renew(id, next coherence.ID, m resource.Mode, granted []coherence.ID) ([]coherence.ID, error) {
	if holds, _ := q.Granted(id); !holds {
		return q.Release(id, granted) // says what is wrong
	}
	granted, err := q.Request(next, m, granted)
	if err != nil {
		return granted, err
	}
	return q.Release(id, granted)
}

// Cancel removes a waiting request. The others keep their order. If the request is a
// writer between two groups of readers, the groups become one. If readers are granted
// by this, Cancel appends them to granted.
func (q *FIFO) Cancel(id coherence.ID, granted []coherence.ID) ([]coherence.ID, error) {
	n := q.numbers[id]
	switch {
	case n == 0:
		return granted, fmt.Errorf("%w: %d: cancel each request once", coherence.ErrNotQueued, id)
	case q.requests[n].granted:
		return granted, fmt.Errorf("%w: %d: release it instead", coherence.ErrGranted, id)
	}
	return q.remove(n, granted), nil
}

// Granted reports whether a request is granted, and whether it is in the queue.
func (q *FIFO) Granted(id coherence.ID) (granted, queued bool) {
	n := q.numbers[id]
	return n != 0 && q.requests[n].granted, n != 0
}

// Len is the number of requests, granted or not.
func (q *FIFO) Len() int { return len(q.numbers) }

// All calls yield for each request in order, until yield returns false. It counts the
// groups from 0. yield must not change the queue.
func (q *FIFO) All(yield func(group int, m resource.Mode, id coherence.ID) bool) {
	q.queue.each(q.requests, func(group int, n number) bool {
		return yield(group, q.requests[n].mode, q.ids[n])
	})
}

// take gives an ID a number that no other has.
func (q *FIFO) take(id coherence.ID) number {
	if q.numbers == nil {
		q.numbers = make(map[coherence.ID]number)
		q.requests, q.ids = make([]request, 1), make([]coherence.ID, 1) // number 0 is none
	}
	if len(q.free) == 0 {
		q.free = append(q.free, number(len(q.requests)))
		q.requests, q.ids = append(q.requests, request{}), append(q.ids, 0)
	}
	n := q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	q.numbers[id], q.ids[n] = n, id
	return n
}

// remove removes a request, and appends the requests to granted that this grants.
func (q *FIFO) remove(n number, granted []coherence.ID) []coherence.ID {
	delete(q.numbers, q.ids[n])
	q.free = append(q.free, n)
	q.news = q.queue.remove(q.requests, n, q.news[:0])
	for _, n := range q.news {
		granted = append(granted, q.ids[n])
	}
	return granted
}

// queue is the order of a resource's grants. It is a list of requests. Those that are
// granted come first:
//
//	first                              last
//	  r     r     r   │   w     r     r     w
//	      granted     │         wait
//
// One rule decides all grants: a request is granted exactly if it is the first, or if it
// reads and the one before it is granted and reads. It follows that nothing ahead of a
// granted request conflicts with it, since two requests conflict unless both read. The
// proof of [System.Check] uses this.
//
// The requests are in a slice that any number of queues have in common. A request has a
// number: its index in the slice. Number 0 is none.
type queue struct {
	first, last number
}

// number is the number of a request, or 0.
type number int32

// request is an entry of a queue. It is zero if it is in none.
type request struct {
	prev, next number
	mode       resource.Mode
	granted    bool
}

// add queues request n, which is in no queue. It reports whether n is granted at once.
func (q *queue) add(all []request, n number, m resource.Mode) (granted bool) {
	if invariant.Enabled {
		invariant.Check(n != 0 && all[n] == request{}, "request %d is queued twice", n)
	}
	all[n] = request{prev: q.last, mode: m}
	if q.last == 0 {
		q.first = n
	} else {
		all[q.last].next = n
	}
	q.last = n
	all[n].granted = grants(all, n)
	q.check(all, n)
	return all[n].granted
}

// remove takes request n out of the queue. It appends the requests to granted that the
// queue grants because of this: if n was granted, the next one may be the first now. If
// n was a writer that waited, the readers behind it may follow granted readers.
func (q *queue) remove(all []request, n number, granted []number) []number {
	prev, next := all[n].prev, all[n].next
	all[n] = request{}
	if prev == 0 {
		q.first = next
	} else {
		all[prev].next = next
	}
	if next == 0 {
		q.last = prev
	} else {
		all[next].prev = prev
	}
	for n = next; n != 0 && !all[n].granted && grants(all, n); n = all[n].next {
		all[n].granted = true
		granted = append(granted, n)
		q.check(all, n)
	}
	q.check(all, prev)
	q.check(all, next)
	q.check(all, n)
	return granted
}

// grants is the rule of grants, for request n.
func grants(all []request, n number) bool {
	r := &all[n]
	if r.prev == 0 {
		return true
	}
	before := &all[r.prev]
	return before.granted && before.mode == resource.Read && r.mode == resource.Read
}

// each calls yield for each request in order, until yield returns false. It counts the
// groups from 0: a group is one writer, or adjacent readers.
func (q *queue) each(all []request, yield func(group int, n number) bool) {
	group := 0
	for n := q.first; n != 0; n = all[n].next {
		if n != q.first && (all[n].mode == resource.Write || all[all[n].prev].mode == resource.Write) {
			group++
		}
		if !yield(group, n) {
			return
		}
	}
}

// check asserts the invariants of request n after a step, and of the queue's ends. The step
// has not changed the rest of the queue.
func (q *queue) check(all []request, n number) {
	if !invariant.Enabled {
		return
	}
	invariant.Check((q.first == 0) == (q.last == 0), "the first request is %d, the last %d", q.first, q.last)
	if n == 0 {
		return
	}
	r := all[n]
	invariant.Check((r.prev == 0) == (n == q.first) && (r.next == 0) == (n == q.last), "request %d is outside the queue", n)
	invariant.Check(r.prev == 0 || all[r.prev].next == n, "request %d is not the next one of %d", n, r.prev)
	invariant.Check(r.next == 0 || all[r.next].prev == n, "request %d is not the one before %d", n, r.next)
	invariant.Check(r.granted == grants(all, n), "request %d is granted: %v", n, r.granted)
}
