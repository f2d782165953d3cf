package liveness

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/invariant"
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
// ahead of it conflicts with it. The proof of [System.Check] uses this.
//
// A step that fails changes nothing.
type FIFO struct {
	requests    map[resource.ID]*request
	first, last *group
}

// group is one writer, or adjacent readers. The FIFO grants it at once.
type group struct {
	mode    resource.Mode
	members *request // in the order of their requests
	tail    *request
	prev    *group
	next    *group
}

// request is a member of a group.
type request struct {
	id         resource.ID
	group      *group
	prev, next *request
}

// Request queues a request. It appends the request to granted if the queue grants it
// at once. The caller chooses an ID that is not in the queue.
func (q *FIFO) Request(id resource.ID, m resource.Mode, granted []resource.ID) ([]resource.ID, error) {
	if m > resource.Write {
		return granted, fmt.Errorf("%w: %d, by request %d: want Read or Write", resource.ErrMode, uint8(m), id)
	}
	if _, queued := q.requests[id]; queued {
		return granted, fmt.Errorf("%w: %d: choose an ID that is not in use", resource.ErrQueued, id)
	}
	if q.requests == nil {
		q.requests = make(map[resource.ID]*request)
	}
	g := q.last
	if g == nil || m == resource.Write || g.mode == resource.Write {
		g = &group{mode: m}
		q.link(q.last, g)
		q.link(g, nil)
	}
	r := &request{id: id, group: g, prev: g.tail}
	if g.tail == nil {
		g.members = r
	} else {
		g.tail.next = r
	}
	g.tail = r
	q.requests[id] = r
	q.check(g)
	if g == q.first {
		granted = append(granted, id)
	}
	return granted, nil
}

// Release ends an access. If the request was the last of its group, Release grants
// the next group and appends it to granted.
func (q *FIFO) Release(id resource.ID, granted []resource.ID) ([]resource.ID, error) {
	r := q.requests[id]
	switch {
	case r == nil:
		return granted, fmt.Errorf("%w: %d: release each request once", resource.ErrNotQueued, id)
	case r.group != q.first:
		return granted, fmt.Errorf("%w: %d: wait for it, or cancel it", resource.ErrNotGranted, id)
	}
	if q.leave(r) {
		granted = q.first.grant(granted)
	}
	q.check(q.first)
	return granted, nil
}

// Renew requests next and then releases id: the step of a pair. No other step comes
// between the two, and the requests that wait for id are ahead of next. So requests
// that renew take turns for ever, in the order of their first requests.
func (q *FIFO) Renew(id, next resource.ID, m resource.Mode, granted []resource.ID) ([]resource.ID, error) {
	if r := q.requests[id]; r == nil || r.group != q.first {
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
func (q *FIFO) Cancel(id resource.ID, granted []resource.ID) ([]resource.ID, error) {
	r := q.requests[id]
	switch {
	case r == nil:
		return granted, fmt.Errorf("%w: %d: cancel each request once", resource.ErrNotQueued, id)
	case r.group == q.first:
		return granted, fmt.Errorf("%w: %d: release it instead", resource.ErrGranted, id)
	}
	before := r.group.prev
	if !q.leave(r) || before.next == nil || before.mode == resource.Write || before.next.mode == resource.Write {
		q.check(before)
		return granted, nil
	}
	joined := before.next
	if before == q.first {
		granted = joined.grant(granted)
	}
	for m := joined.members; m != nil; m = m.next {
		m.group = before
	}
	joined.members.prev, before.tail.next = before.tail, joined.members
	before.tail = joined.tail
	q.unlink(joined)
	q.check(before)
	return granted, nil
}

// Granted reports whether a request is granted, and whether it is in the queue.
func (q *FIFO) Granted(id resource.ID) (granted, queued bool) {
	r := q.requests[id]
	return r != nil && r.group == q.first, r != nil
}

// Len is the number of requests, granted or not.
func (q *FIFO) Len() int { return len(q.requests) }

// All calls yield for each request in order, until yield returns false. It counts the
// groups from 0. yield must not change the queue.
func (q *FIFO) All(yield func(group int, m resource.Mode, id resource.ID) bool) {
	n := 0
	for g := q.first; g != nil; g = g.next {
		for r := g.members; r != nil; r = r.next {
			if !yield(n, g.mode, r.id) {
				return
			}
		}
		n++
	}
}

// leave removes a request. It reports whether it also removed the group.
func (q *FIFO) leave(r *request) bool {
	delete(q.requests, r.id)
	g := r.group
	if r.prev == nil {
		g.members = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		g.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
	if g.members != nil {
		return false
	}
	q.unlink(g)
	return true
}

// grant appends the members of a group to granted. A nil group has none.
func (g *group) grant(granted []resource.ID) []resource.ID {
	if g == nil {
		return granted
	}
	for r := g.members; r != nil; r = r.next {
		granted = append(granted, r.id)
	}
	return granted
}

// unlink removes a group.
func (q *FIFO) unlink(g *group) { q.link(g.prev, g.next) }

// link makes two groups neighbours; nil stands for the end of the queue.
func (q *FIFO) link(a, b *group) {
	if a == nil {
		q.first = b
	} else {
		a.next = b
	}
	if b == nil {
		q.last = a
	} else {
		b.prev = a
	}
}

// check asserts the invariants of a group and its neighbours after a step. The step
// has not changed the rest of the queue.
func (q *FIFO) check(g *group) {
	if !invariant.Enabled {
		return
	}
	invariant.Check((q.first == nil) == (len(q.requests) == 0) && (q.first == nil) == (q.last == nil),
		"%d requests, first group %p, last %p", len(q.requests), q.first, q.last)
	if g == nil {
		return
	}
	invariant.Check(g.members != nil && g.tail != nil && g.members.prev == nil && g.tail.next == nil, "a group without ends")
	invariant.Check(g.mode == resource.Read || g.members == g.tail, "two writers in a group")
	invariant.Check(g.members.group == g && g.tail.group == g, "a member of two groups")
	invariant.Check((g.prev == nil) == (g == q.first) && (g.next == nil) == (g == q.last), "a group outside the queue")
	for _, n := range []*group{g.prev, g.next} {
		invariant.Check(n == nil || n.mode == resource.Write || g.mode == resource.Write, "two groups of readers are neighbours")
	}
}
