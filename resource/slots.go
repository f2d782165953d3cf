package resource

import "sync/atomic"

// slots is where a queue finds who waits, by the number of writers before them:
// the lists of a power of two of successive numbers, over and over.
//
// There are twice as many as writers waited when the slots were made. Should more
// wait later, new slots are put before the old ones; whoever is listed in those
// stays there, and whoever looks for somebody looks in all. There are never more
// than the logarithm of the longest queue that there was.
//
// A waiter that was given new slots has listed itself before it looks at
// completed, and whoever changes completed looks for slots afterwards. So neither
// misses the other.
type slots struct {
	lists []atomic.Pointer[waiter]
	older *slots
}

// fewest is how many slots there are at first.
const fewest = 4

// of is the list of who has as many writers before them as key.
func (s *slots) of(key uint64) *atomic.Pointer[waiter] {
	return &s.lists[uint32(key>>4)&uint32(len(s.lists)-1)]
}

// list makes w one that is found by whoever changes completed from now on.
func (q *queue) list(w *waiter) {
	s := q.slots.Load()
	ahead := uint32(w.ticket>>4) - uint32(q.completed.Load()>>4)
	if ahead &= 1<<29 - 1; s == nil || ahead > uint32(len(s.lists)) && ahead < 1<<28 {
		s = q.grow(s, int(ahead))
	}
	w.next = nil
	q.putBack(s.of(w.ticket), w)
}

// grow makes slots for a queue of ahead writers, unless somebody else just did.
func (q *queue) grow(s *slots, ahead int) *slots {
	n := fewest
	for n < 2*ahead {
		n *= 2
	}
	q.point()
	if s = q.slots.Load(); s != nil && len(s.lists) >= n {
		return s
	}
	more := &slots{make([]atomic.Pointer[waiter], n), s}
	if !q.slots.CompareAndSwap(s, more) {
		return q.slots.Load()
	}
	return more
}

// putBack puts waiters that are linked by next in front of a list.
func (q *queue) putBack(list *atomic.Pointer[waiter], first *waiter) {
	last := first
	for last.next != nil {
		last = last.next
	}
	for {
		q.point()
		old := list.Load()
		last.next = old
		q.point()
		if list.CompareAndSwap(old, first) {
			return
		}
	}
}
