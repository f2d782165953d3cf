package coherence

import "slices"

// queued is a request in the queue of a test.
type queued struct {
	mode    Mode
	id      ID
	granted bool
}

// remote marks the IDs of guests in the queue of a test. The home's own node has other IDs.
const remote = 1 << 63

func guestID(at int) ID { return ID(at) | remote }

// queue is the plain FIFO of groups. If late, the home hears of a grant only when the test
// pumps, as from a queue that others use at the same time.
type queue struct {
	p    *protocol
	all  []queued // in the order of arrival
	news []ID     // granted, and not told
	late bool
	// granted is called before the home hears of it.
	granted func(id ID)
}

func (q *queue) at(id ID) int {
	return slices.IndexFunc(q.all, func(r queued) bool { return r.id == id })
}

// head is how many requests go first: one writer, or all readers before the first writer.
func (q *queue) head() int {
	if len(q.all) > 0 && q.all[0].mode == Write {
		return 1
	}
	n := slices.IndexFunc(q.all, func(r queued) bool { return r.mode == Write })
	if n < 0 {
		return len(q.all)
	}
	return n
}

// request queues a request.
func (q *queue) request(id ID, m Mode) {
	if q.at(id) >= 0 {
		panic(violation("%d is queued twice", id))
	}
	q.all = append(q.all, queued{mode: m, id: id})
	q.grant()
}

// renew queues next, and then releases id.
func (q *queue) renew(id, next ID, m Mode) {
	q.all = append(q.all, queued{mode: m, id: next})
	q.release(id)
}

// release ends a granted request.
func (q *queue) release(id ID) {
	at := q.at(id)
	if at < 0 || !q.all[at].granted {
		panic(violation("%d is released, and was not granted", id))
	}
	q.all = slices.Delete(q.all, at, at+1)
	q.grant()
}

// cancel takes a request back that waits.
func (q *queue) cancel(id ID) bool {
	at := q.at(id)
	if at < 0 {
		panic(violation("%d is cancelled, and is not in the queue", id))
	}
	if q.all[at].granted {
		return false
	}
	q.all = slices.Delete(q.all, at, at+1)
	q.grant()
	return true
}

func (q *queue) grant() {
	for i := range q.head() {
		if r := &q.all[i]; !r.granted {
			r.granted = true
			q.news = append(q.news, r.id)
			if q.granted != nil {
				q.granted(r.id)
			}
		}
	}
}
