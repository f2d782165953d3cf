package queue

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
)

// queue is the FIFO of groups for goroutines: it grants what liveness.FIFO grants, in the
// same order, without a mutex and without a node for each request.
//
// It is the fair reader-writer ticket lock (Mellor-Crummey and Scott, 1991), with
// request and acquire taken apart. Two words count: how many writers and readers
// have requested, and how many have completed.
//
//	requested   │ readers │ writers │       a request adds one, and what the word
//	completed   │ readers │ writers │flags│  held before is its ticket
//	             63     33 32      4 3   0
//
// A ticket thus says how many of each kind came before, and
//
//	a writer is granted when as many of both have completed: completed == ticket
//	a reader is granted when as many writers have, or more
//
// which makes neighbouring readers a group: they have the same number of writers
// before them, and the next writer has all of them before it.
//
// A request that is given up stays in the queue as a ghost. The step that completes the
// last request before it completes the ghost, too. A ghost writer needs no exclusive
// access, so it passes as soon as the writers before it have completed, as a reader
// would. Then the readers on both its sides become one group.
//
// # The counts
//
// Both words count on for ever. Readers stand in the upper half, where an overflow
// falls off the word; an overflow of the writers adds a reader to both words
// alike. Tickets are compared for equality, or by the difference of their writers,
// so it does no harm as long as less than 2^28 writers wait.
//
// # Waiting
//
// A request that waits first shows its waiter in the queue, and then looks at completed once
// more (waiter.go). A goroutine that changes completed then looks for waiters. One
// of them sees the other.
//
// All that a hand-over needs is in one cache line.
type queue struct {
	requested atomic.Uint64
	completed atomic.Uint64
	writers   [fewest]slot // the waiting writer with so many writers before it, modulo fewest
	readers   list         // with fewer than fewest writers before them
	far       atomic.Pointer[slots]
	guard     atomic.Pointer[guard]
	home      *home // for mirrors elsewhere; if shared, it is told after each step
	probe     probe // nil but in tests
}

// The units of the two words, and the flags in their lower bits.
const (
	oneWriter = 1 << 4
	oneReader = 1 << 33

	apart   = 1 << 0 // in requested: the home is elsewhere, and requests go to the mirror
	broken  = 1 << 1 // no request is granted any more
	shared  = 1 << 2 // in completed: mirrors take part, and must be told of grants
	guarded = 1 << 3 // every grant must also enter the guard; in requested also, and so in tickets
	flags   = oneWriter - 1

	writersMask = oneReader/oneWriter - 1
)

// unit is what a request of a mode adds to the words.
func unit(m Mode) uint64 {
	if m == Write {
		return oneWriter
	}
	return oneReader
}

// passed reports whether every writer before ticket had completed.
func passed(completed, ticket uint64) bool {
	return int32((uint32(completed>>4)-uint32(ticket>>4))<<3) >= 0
}

// due reports whether the request with a ticket was granted, as far as the order
// is concerned.
func due(completed, ticket uint64, m Mode) bool {
	if m == Write {
		return completed&^flags == ticket
	}
	return passed(completed, ticket)
}

// request takes the next ticket. one is the unit of the request.
func (q *queue) request(one uint64) (ticket uint64) { return q.add(&q.requested, one) - one }

// outstanding reports whether an ordered request is queued or granted.
func (q *queue) outstanding() bool {
	return q.requested.Load()&^flags != q.completed.Load()&^flags
}

// near is the queue's own slot of a key.
func (q *queue) near(key uint64) *slot { return &q.writers[key/oneWriter%fewest] }

// stirs reports whether a waiter may have to be told that completed has become c.
func (q *queue) stirs(c uint64) bool {
	q.point()
	if c&flags != 0 || q.readers.Load() != nil || q.far.Load() != nil {
		return true
	}
	w := q.near(c).Load()
	if w == nil {
		return false
	}
	v := w.word.Load()
	q.saw(v)
	return v&^flags == c || v&stateMask == ghost
}

// settle wakes the waiters with as many writers before them as key that are due. It
// completes ghosts that are due, and goes on with the waiters that this makes due. c is what
// completed was a moment ago. It returns how many it woke.
func (q *queue) settle(key, c uint64) int {
	var done served
	for {
		slot, list, far := q.near(key), &q.readers, q.far.Load()
		for {
			q.point()
			if w := slot.Load(); w != nil {
				if invariant.Enabled {
					q.saw(w.word.Load())
				}
				q.offer(w, c, &done)
			}
			q.point()
			if list.Load() != nil {
				q.serve(list, c, &done)
			}
			if far == nil {
				break
			}
			b := far.of(key)
			slot, list, far = &b.writer, &b.readers, far.older
		}
		if done.gone == 0 {
			if c&shared != 0 {
				q.home.poke()
			}
			return done.woken
		}
		invariant.Sometimes(true, "a ghost is completed by another request's release")
		c = q.add(&q.completed, done.gone)
		if c&guarded != 0 {
			q.guard.Load().account(done.strays)
		}
		done.gone, done.strays = 0, 0
		key = c
	}
}

// served is the result of looking for waiters that are due.
type served struct {
	woken  int    // waiters that slept
	gone   uint64 // units of ghosts, to be added to completed
	strays int64  // how many of these ghosts were strays of the guard
}

// offer grants w, or buries its ghost, if c makes that due. It reports whether w does not wait
// any more.
func (q *queue) offer(w *waiter, c uint64, done *served) bool {
	for {
		q.point()
		v := w.word.Load()
		q.saw(v)
		switch ticket := v &^ flags; {
		case v&stateMask == granted:
			return true
		case c&broken != 0 || due(c, ticket, w.mode):
		case v&stateMask == ghost && passed(c, ticket):
			invariant.Sometimes(w.mode == Write, "a cancelled writer is completed beside readers")
		default:
			return false
		}
		q.point()
		if !w.grant(v) {
			q.saw(v + 1)
			continue
		}
		q.saw(v)
		switch v & stateMask {
		case asleep:
			done.woken++
		case ghost:
			done.gone += unit(w.mode)
			done.strays += int64(w.stray)
		}
		return true
	}
}

// serve takes all readers out of a list, and puts those back that are not due. Meanwhile
// another goroutine may have completed what those wait for, and have found the list empty.
// So serve looks again if that happened.
func (q *queue) serve(l *list, c uint64, done *served) {
	for {
		q.point()
		stay := (*waiter)(nil)
		for w := l.Swap(nil); w != nil; {
			next := w.next
			if !q.offer(w, c, done) {
				w.next = stay
				stay = w
			}
			w = next
		}
		if stay == nil {
			return
		}
		q.put(l, stay)
		now := q.load(&q.completed)
		if now == c {
			return
		}
		invariant.Sometimes(true, "a list is looked through again")
		c = now
	}
}

// breakDown wakes every waiter. Nothing is granted from now on.
func (q *queue) breakDown() {
	q.point()
	q.completed.Or(broken)
	n := fewest
	if s := q.far.Load(); s != nil {
		n = len(s.bays)
	}
	for i := range uint64(n) {
		q.settle(i*oneWriter, q.load(&q.completed))
	}
}

// add returns what the word holds afterwards.
func (q *queue) add(word *atomic.Uint64, delta uint64) uint64 {
	q.point()
	v := word.Add(delta)
	q.saw(v)
	return v
}

func (q *queue) load(word *atomic.Uint64) uint64 {
	q.point()
	v := word.Load()
	q.saw(v)
	return v
}

// probe lets the simulator stop a goroutine between two steps of a queue. A queue has
// no window that could do so. The probe is told of each step before it is made, and of
// the value that the step has seen.
type probe interface {
	point()
	saw(v uint64)
}

func (q *queue) point() {
	if invariant.Enabled && q.probe != nil {
		q.probe.point()
	}
}

func (q *queue) saw(v uint64) {
	if invariant.Enabled && q.probe != nil {
		q.probe.saw(v)
	}
}
