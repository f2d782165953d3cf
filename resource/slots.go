package resource

import "sync/atomic"

// list is some waiters, linked by next.
type list = atomic.Pointer[waiter]

// slots are the lists in which a queue finds its waiters, by the number of writers
// before them: a power of two of lists, used for successive numbers in turn. A queue
// has a few lists of its own, for waiters with few writers before them. The first
// waiter with more makes slots, twice as many as it needs.
//
// If a later waiter needs more, new slots go before the old ones. The old ones keep
// their waiters, and a search looks in all of them. Sizes double, so their number is at
// most the logarithm of the longest queue ever.
//
// A waiter lists itself before it looks at completed. A goroutine that changes
// completed looks at the slots afterwards. So neither misses the other.
type slots struct {
	lists []list
	older *slots
}

// fewest is how many lists a queue has of its own.
const fewest = 4

// of is the list of the waiters with as many writers before them as key.
func (s *slots) of(key uint64) *list {
	return &s.lists[uint32(key/oneWriter)&uint32(len(s.lists)-1)]
}

// nearest is of for the queue's own lists.
func (q *queue) nearest(key uint64) *list { return &q.near[key/oneWriter%fewest] }

// list puts w where every later change of completed finds it.
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

// grow makes slots for a queue of ahead writers, unless another goroutine just did.
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
