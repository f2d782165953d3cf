package books

import (
	"runtime"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/park"
	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/orwl/internal/plan"
)

// book is the tasks of one worker. The holder of the lock owns all fields that are not atomic.
type book struct {
	pool   *Pool
	number uint32
	tasks  []uint32 // by the number here: the task, which is its counter
	urgent uint32   // the first that is not urgent
	round  []uint32 // which one the task runs next
	ended  []bool   // it takes empty turns, if any
	look   bitmap
	at     uint32      // where the next look begins
	next   []uint32    // the next task that hangs on the same edge, counted from 1
	steps  uint32      // how many were run
	holds  *book       // the book whose lock this book's worker holds, or nil
	hears  bool        // this book's worker attends to other nodes
	taken  tally.Count // how often this book's worker has run a task out of another book

	_     [64]byte    // other workers touch the fields below
	short atomic.Bool // bodies run under the lock
	lock  lock
	mail  atomic.Uint32 // the edge on top, counted from 1
	state atomic.Uint32 // of the worker
	bed   bed
	own   park.Place
	// rested is for how long the worker has slept, in nanoseconds. While it sleeps it is that, less the time at which it fell asleep, less 1.
	rested atomic.Int64
	_      [64]byte
}

// bed is where a worker sleeps: a park.Place, or what the simulator gives it. parked is called when the worker has stopped.
type bed interface {
	Init(parked func())
	Park()
	Unpark()
}

func (b *book) sleepIn(bed bed) {
	b.bed = bed
	bed.Init(b.parked)
}

// The states of a worker. Only the worker itself makes it busy, tired or away, and the change from asleep
// wakes it:
//
//	away ◀──▶ busy ──▶ tired ──▶ asleep
//	            ▲        │          │
//	            └── called ◀────────┘
const (
	busy   = iota
	tired  // it is about to sleep, and looks at its mail once more
	asleep // it sleeps
	called // it is not to sleep
	away   // it is in a long body
)

// lock is a ticket lock: its holder sees whether another worker waits.
type lock struct{ next, now atomic.Uint32 }

func (p *Pool) acquire(worker int, b *book) {
	p.point()
	mine := b.lock.next.Add(1) - 1
	p.saw(mine)
	for i := 1; ; i++ {
		p.stay(b, mine)
		if p.load(&b.lock.now) == mine {
			p.books[worker].holds = b
			return
		}
		relax(i)
	}
}

func (p *Pool) release(worker int, b *book) {
	p.books[worker].holds = nil
	now := b.lock.now.Load() + 1 // only the holder changes it
	p.store(&b.lock.now, now)
	p.turn(b, now)
}

// wanted reports whether another worker waits for a lock that is held.
func (p *Pool) wanted(b *book) bool { return p.load(&b.lock.next) != b.lock.now.Load()+1 }

// relax lets others run, now and then: there may be more workers than processors.
func relax(i int) {
	if i%64 == 0 {
		runtime.Gosched()
	}
}

// mostLooks is how many tasks of its own book a worker looks at before it helps another one: the owner of that one may be in a long body.
const mostLooks = 1000

// listens is after how many tasks a worker listens to other nodes.
const listens = 16

// work runs tasks of the book until none is worth a look, or many have been. It reports whether there may be more.
func (b *book) work(worker int) (more bool) {
	p := b.pool
	p.acquire(worker, b)
	for looks := 0; !p.isOver() && !more; looks++ {
		if p.Ears != nil && looks%listens == 0 {
			p.release(worker, b)
			p.Ears.Look()
			p.acquire(worker, b)
		}
		b.read()
		l, some := b.look.from(b.at)
		if !some {
			break
		}
		if l >= b.urgent {
			p.flush(worker)
		}
		b.try(worker, l)
		if p.wanted(b) {
			p.release(worker, b)
			p.acquire(worker, b)
		}
		more = looks == p.mostLooks
	}
	p.release(worker, b)
	p.flush(worker)
	return more
}

// one runs one task for the worker of another book.
func (b *book) one(worker int) (ran bool) {
	p := b.pool
	p.acquire(worker, b)
	b.read()
	for !ran {
		l, some := b.look.from(b.at)
		if !some {
			break
		}
		ran = b.try(worker, l)
	}
	if e := p.again(b.number); !b.look.empty() && !p.edges[e].waits {
		p.edges[e].waits = true
		b.post(e) // the owner may have seen nothing to do
	}
	p.release(worker, b)
	return ran
}

// inARow is how many rounds of a task follow each other at most.
const inARow = 64

// try runs rounds of a task, and hangs it on the counter that it is short of.
func (b *book) try(worker int, l uint32) (ran bool) {
	p, task := b.pool, b.tasks[l]
	b.look.clear(l)
	b.at = l + 1
	for range p.inARow {
		k := b.round[l]
		if short, ok := p.met(task, k); !ok {
			b.hang(l, short, k)
			return ran
		}
		ran = true
		outcome := Goes
		if !b.ended[l] {
			outcome = b.run(worker, task, k)
		}
		if outcome == Fails {
			return ran
		}
		b.round[l]++
		over := b.publishes(task, k, b.ended[l], b.ended[l] || outcome == Ends)
		if outcome == Ends {
			b.ended[l] = true
			p.ends()
		}
		if over || p.isOver() {
			return ran
		}
	}
	b.look.set(l)
	return ran
}

// publishes publishes a round of a task. It reports whether all its counters have ended, with their turns.
func (b *book) publishes(task, k uint32, empty, ended bool) (over bool) {
	p := b.pool
	over = ended
	for c := task; c < p.after(task); c++ {
		last := ended && k >= p.Plan.Turns(int(c))
		if empty && p.Turn != nil && p.counters[c].done.Load() != plan.Ended {
			p.Turn(int(c), k, last)
		}
		if last {
			b.publish(c, plan.Ended)
		} else {
			b.publish(c, k)
			over = false
		}
	}
	return over
}

// run runs a round. A long one runs without the lock.
func (b *book) run(worker int, task, k uint32) (o Outcome) {
	p := b.pool
	began := int64(0)
	if b.steps++; p.Now != nil && (k == 1 || b.steps%sampled == 1) {
		began = p.Now()
	}
	if b.short.Load() {
		o = p.Run(worker, int(task), k)
	} else {
		own := p.books[worker]
		p.store(&own.state, away)
		if !b.look.empty() || p.load(&own.mail) != 0 {
			p.callHelp()
		}
		p.release(worker, b)
		p.flush(worker)
		if mean := p.times[task].Load(); mean == 0 || mean > p.lengthy() {
			own.leave()
		}
		o = p.Run(worker, int(task), k)
		own.attend()
		p.store(&own.state, busy)
		p.flush(worker)
		p.acquire(worker, b)
	}
	if began != 0 {
		b.took(task, p.Now()-began)
	}
	return o
}

const (
	sampled = 61   // the first body of a task is timed, and of so many one: a prime, since the tasks of a book take turns
	brief   = 1000 // nanoseconds of a short body
	weight  = 8    // of what was seen before, in the mean time of a body
)

// lengthy is the time of a body, in nanoseconds, in which a worker does not attend to other nodes. A worker that is alone could not
// use it before its body ends. Other workers may sleep, and wait for it.
func (p *Pool) lengthy() int64 {
	if p.Workers == 1 {
		return 2_000_000
	}
	return 50_000
}

// took notes how long a body has taken.
func (b *book) took(task uint32, ns int64) {
	if short := ns < brief; short != b.short.Load() {
		b.short.Store(short)
	}
	mean := &b.pool.times[task]
	if before := mean.Load(); before > 0 {
		ns = before + (ns-before)/weight
	}
	mean.Store(max(ns, 1))
}

// hang has a task wait for the counter of condition n, which is not met in round k.
func (b *book) hang(l, n, k uint32) {
	p := b.pool
	task, c, e := b.tasks[l], p.when[n].Counter(), &p.edges[p.waitsOn[n]]
	if p.Waits != nil && !b.ended[l] {
		p.Waits(int(task), c)
	}
	b.next[l], e.first = e.first, l+1
	if p.Owner[c] == int32(b.number) {
		return // a worker that publishes it holds the lock, and looks at what hangs on it
	}
	if !e.waits {
		e.waits = true
		p.store(&e.armed, 1)
	}
	if short, ok := p.met(task, k); ok || short != n { // the counter has come meanwhile
		e.first = b.next[l]
		b.look.set(l)
	}
}

// rouse finds what hangs on an edge worth a look.
func (b *book) rouse(e *edge) {
	for l := e.first; l != 0; l = b.next[l-1] {
		b.look.set(l - 1)
	}
	e.first = 0
}

// post puts an edge into the mail, and calls the worker if it sleeps.
func (b *book) post(e uint32) {
	p := b.pool
	for {
		top := p.load(&b.mail)
		p.edges[e].next = top
		p.point()
		if b.mail.CompareAndSwap(top, e+1) {
			p.saw(1)
			break
		}
		p.saw(0)
	}
	b.rise()
}

// rise has the book's worker look: it ends its sleep, or keeps it from sleeping. If the worker is in a long body, another one looks.
func (b *book) rise() {
	p := b.pool
	for {
		before := p.load(&b.state)
		switch before {
		case busy, called:
			return // it looks at its mail before it sleeps, and before a long body
		case away:
			p.callHelp()
			return
		}
		p.point()
		risen := b.state.CompareAndSwap(before, called)
		if p.saw(b.state.Load()); risen {
			if before == asleep {
				b.bed.Unpark()
			}
			return
		}
	}
}

// read reads the mail.
func (b *book) read() {
	p := b.pool
	if p.load(&b.mail) == 0 {
		return
	}
	p.point()
	e := b.mail.Swap(0)
	p.saw(e)
	for e != 0 {
		edge := &p.edges[e-1]
		e, edge.waits = edge.next, false
		b.rouse(edge)
	}
}

// rest has the worker sleep, and counts the time if the pool does that.
func (b *book) rest() {
	p := b.pool
	if !p.Rests {
		b.sleep()
		return
	}
	rested, began := b.rested.Load(), p.Now()
	b.rested.Store(rested - began - 1)
	b.sleep()
	b.rested.Store(rested + p.Now() - began)
}

// sleep waits until another worker calls this one. It returns at once if there is mail, or a task that is worth a look: it looks once more
// when others already see that it is tired, and call it. Else a worker that begins a long body would not call it, and what
// has come to its book meanwhile would wait for the end of the body.
func (b *book) sleep() {
	p := b.pool
	for i := range p.Patience {
		if b.mail.Load() != 0 || p.over.Load() {
			return
		}
		if p.Ears != nil {
			p.Ears.Look()
		}
		relax(i)
	}
	p.store(&b.state, tired)
	b.leave()
	if p.load(&b.mail) == 0 && !p.isOver() && !p.worth(b.number) {
		b.bed.Park()
	}
	b.attend()
	p.store(&b.state, busy)
}

// attend has the book's worker take what comes from other nodes, until leave.
func (b *book) attend() {
	if b.pool.Ears != nil && !b.hears {
		b.hears = true
		b.pool.Ears.Attend()
	}
}

func (b *book) leave() {
	if b.hears {
		b.hears = false
		b.pool.Ears.Leave()
	}
}

// worth reports whether a book has a task that is worth a look by the worker of a book.
func (p *Pool) worth(own uint32) bool {
	for _, b := range p.books {
		if b.number != own && b.short.Load() {
			continue
		}
		p.acquire(int(own), b)
		some := !b.look.empty() || p.load(&b.mail) != 0
		if p.release(int(own), b); some {
			return true
		}
	}
	return false
}

// parked is called when the worker has stopped. It does not stay so if it is called meanwhile.
func (b *book) parked() {
	p := b.pool
	p.point()
	fell := b.state.CompareAndSwap(tired, asleep)
	if p.saw(b.state.Load()); !fell {
		b.bed.Unpark()
	}
}
