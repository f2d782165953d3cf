package resource

import "sync/atomic"

// list is some waiters, linked by next.
type list = atomic.Pointer[waiter]

// slots is where a queue finds who waits, by the number of writers before them: a
// power of two of lists for successive numbers, over and over. A queue has a few
// of its own, for those who have few writers before them. When the first comes
// who has more, it makes slots, twice as many as it needs.
//
// Should one come later who needs more still, new slots are put before the old
// ones; whoever is listed in those stays there, and whoever looks for somebody
// looks in all. There are never more than the logarithm of the longest queue that
// there was.
//
// A waiter lists itself before it looks at completed, and whoever changes
// completed looks for slots afterwards. So neither misses the other.
type slots struct {
	lists []list
	older *slots
}

// fewest is how many lists a queue has of its own.
const fewest = 4

// of is the list of who has as many writers before them as key.
func (s *slots) of(key uint64) *list {
	return &s.lists[uint32(key/oneWriter)&uint32(len(s.lists)-1)]
}

// nearest is of among the queue's own.
func (q *queue) nearest(key uint64) *list { return &q.near[key/oneWriter%fewest] }

// list makes w one that is found by whoever changes completed from now on.
func (q *queue) list(w *waiter) {
	w.next = nil
	ahead := (uint32(w.ticket/oneWriter) - uint32(q.completed.Load()/oneWriter)) & writersMask
	if ahead <= fewest || ahead > writersMask/2 {
		q.put(q.nearest(w.ticket), w)
		return
	}
	s := q.far.Load()
	if s == nil || ahead > uint32(len(s.lists)) {
		s = q.grow(s, int(ahead))
	}
	q.put(s.of(w.ticket), w)
}

// grow makes slots for a queue of ahead writers, unless somebody else just did.
func (q *queue) grow(s *slots, ahead int) *slots {
	n := 2 * fewest
	for n < 2*ahead {
		n *= 2
	}
	q.point()
	more := &slots{make([]list, n), s}
	if !q.far.CompareAndSwap(s, more) {
		return q.far.Load()
	}
	return more
}

// put puts waiters in front of a list.
func (q *queue) put(l *list, first *waiter) {
	last := first
	for last.next != nil {
		last = last.next
	}
	for {
		q.point()
		old := l.Load()
		last.next = old
		q.point()
		if l.CompareAndSwap(old, first) {
			return
		}
	}
}
