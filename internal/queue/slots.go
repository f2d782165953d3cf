package queue

import "sync/atomic"

// A queue finds a waiter by its key: the number of writers before it.
//
//	writers  │ 4 │ 1 │ 2 │ 3 │        one for each key, in turn
//	readers    2 ─▶ 2 ─▶ 3            those of a list may have several keys
//
// No two writers have the same key. So a writer has a slot of its own, as long as fewer
// writers wait before it than there are slots. It stays in the slot when it is granted, until
// another writer needs the slot. A goroutine that finds it there sees by its word that it does
// not wait, or that it waits with another ticket. So a pair that comes back to its slot
// changes only its word.
//
// The queue has a few slots of its own, and a list of the readers with as few writers before
// them. The first waiter with more makes slots, twice as many as it needs.
//
// If a later waiter needs more, new slots go before the old ones. The old ones keep their
// waiters, and a search looks in all of them. Sizes double, so their number is at most the
// logarithm of the longest queue ever.
//
// A waiter shows itself before it looks at completed. A goroutine that changes completed looks
// at the slots afterwards. So neither misses the other.
type slots struct {
	bays  []bay
	older *slots
}

// bay is where the waiters of one key are, and of those that come in turn with it.
type bay struct {
	writer  slot
	readers list
}

// slot is the waiter of a writer. It is nil before the first one.
type slot = atomic.Pointer[waiter]

// list is the waiters of some readers, linked by next.
type list = atomic.Pointer[waiter]

// fewest is how many slots a queue has of its own.
const fewest = 4

// of is the bay of the waiters with as many writers before them as key.
func (s *slots) of(key uint64) *bay {
	return &s.bays[uint32(key/oneWriter)&uint32(len(s.bays)-1)]
}

// forget takes w, which does not wait, out of its slots, so that the resource does not keep its
// memory.
func (q *queue) forget(w *waiter) {
	for i := range q.writers {
		if s := &q.writers[i]; s.Load() == w {
			q.point()
			s.CompareAndSwap(w, nil)
		}
	}
}

// grow returns slots for a queue of ahead writers. It makes them, unless there are enough.
func (q *queue) grow(ahead int) *slots {
	n := 2 * fewest
	for n < 2*ahead {
		n *= 2
	}
	s := q.far.Load()
	for s == nil || len(s.bays) <= ahead {
		q.point()
		if more := (&slots{make([]bay, n), s}); q.far.CompareAndSwap(s, more) {
			return more
		}
		s = q.far.Load()
	}
	return s
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
