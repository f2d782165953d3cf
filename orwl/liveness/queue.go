package liveness

import (
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/resource"
)

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
