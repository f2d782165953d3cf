package queue

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/park"
)

// waiter is a request that waits in a queue. While its word says that it waits, its owner
// changes nothing but the word. A ghost has no owner.
//
//	word   │ ticket │ hooked │ state │
//	        63     4    3     2     0
//
//	            ┌─ sleep ─▶ asleep ───┐
//	            │             │ interrupt
//	listed ─────┤             ▼       ├─ grant, by who completes ─▶ granted
//	   ▲        ├─ interrupt ▶ roused ┤
//	   │        │               │     │
//	   └────────┼─ sleep again ─┘     │
//	            └─ cancel ─▶ ghost ───┘
//
// The change of state that finds the waiter asleep wakes it, once.
//
// A queue may look at a waiter at any time, even if it does not wait any more. So a waiter
// serves one queue and one mode: then no ticket of its comes twice, and a change of the word
// fails if the word is one of an earlier request.
type waiter struct {
	word    atomic.Uint64
	next    *waiter
	in      *queue   // nil: it waits for something else than a queue's grant
	sleeper *sleeper // nil until the owner sleeps for the first time
	hook    atomic.Pointer[func()]
	mode    Mode
	stray   int8 // 1 if requested before there was a guard
}

// sleeper is what a waiter has if its owner sleeps. The owner of a request that is only
// told of its grant never does.
type sleeper struct {
	interrupt func()
	bed       Bed        // nil: place
	place     park.Place // nil bed: sleeps here
	alarm     park.Alarm // for place: wakes the sleeper when its context ends; stays on while the place comes back
}

// The states of a waiter.
const (
	granted = iota // the owner's
	listed
	asleep
	roused    // awake without a grant, its context has ended
	ghost     // given up
	stateMask = 7
	hooked    = 8 // the goroutine that grants the request then calls the hook
)

// Bed is where a goroutine sleeps while it waits for a grant. A Place has one
// that parks the goroutine; the simulator's ranks bring beds of their own.
type Bed interface {
	// Init makes the bed ready. Park calls parked as soon as Unpark may be called, by
	// parked or by another goroutine.
	Init(parked func())
	// ParkUntil returns after one Unpark. If ctx ends before, it calls interrupt.
	ParkUntil(ctx context.Context, interrupt func())
	// Unpark wakes the sleeper. It is called once for each ParkUntil.
	Unpark()
}

// A place is listed while its request waits for a grant: because its task waits in
// Acquire, or because Notify asked for a call.

// list shows the request where every later change of completed finds it. A grant from before
// has not seen it, so list looks again and serves the request itself. Once the word of a
// waiter is stored, another goroutine may grant it, and its hook may have given the place to a
// third one: so list does not touch place and waiter any more.
//
// If the resource is broken, requests complete out of their order. So completed says no more
// which slots are free, and list grants the request at once.
func (p *Place) list(s uint64, hook *func()) {
	r, ticket, m := p.r, s&^flags, modeOf(s)
	w, v := p.waiter(&r.queue, m, hook), ticket|listed
	p.listed, p.notified = true, hook != nil
	w.stray = 0
	if s&guardedBit == 0 {
		w.stray = 1
	}
	if hook != nil {
		v |= hooked
	}
	c := r.load(&r.completed)
	if c&broken != 0 {
		w.word.Store(v)
		r.offer(w, c, new(served))
		return
	}
	own, all := r.near(v), &r.readers
	ahead := (uint32(v/oneWriter) - uint32(c/oneWriter)) & writersMask
	if ahead >= fewest && ahead <= writersMask/2 {
		b := r.grow(int(ahead)).of(v)
		own, all = &b.writer, &b.readers
	}
	if m == Read {
		w.word.Store(v)
		w.next = nil
		r.put(all, w)
	} else {
		if own.Load() != w {
			r.point()
			own.Store(w)
		}
		r.point()
		w.word.Store(v)
	}
	if c := r.load(&r.completed); c&broken != 0 || due(c, ticket, m) {
		r.settle(ticket, c)
	}
}

// Notify calls f once when the request is granted: at once if it is granted already,
// otherwise from the goroutine that grants it, which waits until f returns. The place may be
// acquired by then. f may be called even if the request is cancelled meanwhile. Call Notify
// once for each request.
func (p *Place) Notify(f func()) error {
	s := p.state.Load()
	if s&requestedBit == 0 {
		return p.error("notify", ErrNotRequested)
	}
	if p.planned {
		return p.error("notify", ErrPlanned)
	}
	if p.listed && p.notified {
		return p.error("notify", ErrNotified)
	}
	if !p.listed && !p.lined {
		p.list(s, &f)
		return nil
	}
	p.notified = true
	if p.lined || !p.waiter(&p.r.queue, modeOf(s), &f).watch() { // lined: the queue has granted it, and it waits at the guard
		f()
	}
	return nil
}

// newWaiter is a waiter that sleeps in bed, or in one of its own.
func newWaiter(bed Bed) *waiter {
	w := new(waiter)
	w.lieDown(bed)
	return w
}

// lieDown makes the waiter one that can sleep.
func (w *waiter) lieDown(bed Bed) {
	if w.sleeper != nil {
		return
	}
	s := &sleeper{interrupt: w.rouse, bed: bed}
	if bed == nil {
		s.place.Init(w.parked)
	} else {
		bed.Init(w.parked)
	}
	w.sleeper = s
}

// calm ends what the end of a context may still do to the waiter.
func (w *waiter) calm() {
	if w.sleeper != nil {
		w.sleeper.alarm.Off()
	}
}

// waiter is what the place waits with for something of q, which may be nil. hook is nil, or
// the one to call at the grant.
func (p *Place) waiter(q *queue, m Mode, hook *func()) *waiter {
	if w := p.w; w == nil || w.in != q || w.mode != m {
		p.forget()
		p.w = &waiter{in: q, mode: m}
	}
	w := p.w
	if hook != nil {
		w.hook.Store(hook)
	}
	return w
}

// forget drops the waiter, which does not wait.
func (p *Place) forget() {
	if w := p.w; w != nil {
		w.calm()
		if w.in != nil {
			w.in.forget(w)
		}
		p.w = nil
	}
}

// state is the state of the waiter, without hooked.
func (w *waiter) state() uint64 { return w.word.Load() & stateMask }

// grant gives the waiter back to its owner, wakes the owner if it sleeps, and calls the hook.
// It reports false if the word is not v any more. After the exchange of the word the owner
// may use the waiter again, with another hook: so grant reads the hook first.
func (w *waiter) grant(v uint64) bool {
	hook := w.hook.Load()
	if !w.word.CompareAndSwap(v, v&^flags) {
		return false
	}
	if v&stateMask == asleep {
		w.wake()
	}
	if v&hooked != 0 && v&stateMask != ghost {
		(*hook)()
	}
	return true
}

// watch has the hook called at the grant. It reports false if the waiter is granted already.
// It is called once.
func (w *waiter) watch() bool {
	for {
		v := w.word.Load()
		if v&stateMask == granted {
			return false
		}
		if w.word.CompareAndSwap(v, v|hooked) {
			return true
		}
	}
}

// giveUp makes the waiter a ghost. It reports false if the waiter is granted already.
func (w *waiter) giveUp() bool { return w.move(ghost, listed, roused) }

// move changes the state from one of two, and reports whether it was one of them.
func (w *waiter) move(to, from, or uint64) bool {
	for {
		v := w.word.Load()
		if v&stateMask != from && v&stateMask != or {
			return false
		}
		if w.word.CompareAndSwap(v, v&^stateMask|to) {
			return true
		}
	}
}

// sleep returns when it is granted, or with the reason for the end of ctx.
func (w *waiter) sleep(ctx context.Context) error {
	for s := w.sleeper; w.state() != granted; w.wakeUp() {
		if ctx.Err() != nil {
			return Reason(ctx)
		}
		if s.bed != nil {
			s.bed.ParkUntil(ctx, s.interrupt)
		} else {
			s.alarm.Set(ctx, s.interrupt)
			s.place.Park()
		}
	}
	return nil
}

// wakeUp makes a roused waiter ready to sleep again. It follows every sleep, since a
// wake-up may come without a grant.
func (w *waiter) wakeUp() {
	if w.state() == roused {
		w.move(listed, roused, roused)
	}
}

// parked is called when the goroutine sleeps, or is about to. From then on it may be
// woken, unless it was granted or roused before.
func (w *waiter) parked() {
	if !w.move(asleep, listed, listed) {
		w.wake()
	}
}

// rouse wakes the waiter without a grant, or keeps it from sleeping. It may come late,
// when the owner waits for something else: then the owner looks around and sleeps on.
func (w *waiter) rouse() {
	for {
		v := w.word.Load()
		if v&stateMask != listed && v&stateMask != asleep {
			return
		}
		if w.word.CompareAndSwap(v, v&^stateMask|roused) {
			if v&stateMask == asleep {
				w.wake()
			}
			return
		}
	}
}

func (w *waiter) wake() {
	if s := w.sleeper; s.bed == nil {
		s.place.Unpark()
	} else {
		s.bed.Unpark()
	}
}

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
