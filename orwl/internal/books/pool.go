package books

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/orwl/internal/plan"
)

// Outcome is what became of a round.
type Outcome uint8

const (
	Goes  Outcome = iota // the task has more rounds
	Ends                 // it was the last one
	Fails                // it publishes nothing, and neither does the task from now on
)

// Options are the tasks of a pool. A task has one counter of the plan, and its number.
type Options struct {
	Plan  *plan.Plan
	Owner []int32 // by counter: the worker in whose book it stands; -1 for a task without rounds
	Books int
	// Run runs a round, counted from 1, on a worker.
	Run func(worker, task int, round uint32) Outcome
	// Died is called if Run panics with a value, or ends its goroutine: then the value is nil. The
	// task has failed.
	Died func(worker int, value any)
	// Waits, if it is not nil, is told of a task whose round waits for the round of another one.
	Waits func(task, other int)
	// Now reads a clock in nanoseconds. Without it all bodies run without the lock.
	Now func() int64
	// Patience is how often a worker looks at its mail before it sleeps.
	Patience int
}

// Pool is the workers of a plan.
type Pool struct {
	Options
	counters []counter
	needs    []need
	first    []uint32 // by task: its first need; and the end of the last one
	edges    []edge
	begin    []uint32 // by counter: its first edge; and the end of the last one
	books    []*book

	times []atomic.Int64 // by task: the mean time of its body in nanoseconds, of those that were timed

	inARow int

	left atomic.Int32 // tasks with rounds left
	over atomic.Bool

	probe probe // nil but in tests
}

// counter is how many rounds a task has published. It has one writer at a time: the worker that runs
// the task.
type counter struct{ done atomic.Uint32 }

// need is a condition of a task.
type need struct {
	plan.Condition
	edge uint32 // of its counter and the task's book
}

// edge is a counter that tasks of a book wait for. The fields that are not atomic belong to the holder of
// the book's lock.
type edge struct {
	book  uint32
	armed atomic.Uint32 // 1: put the edge into the mail when the counter changes
	next  uint32        // in the mail: the edge below, counted from 1
	first uint32        // the first task that hangs on it, counted from 1
	waits bool          // it is armed, or in the mail
}

// New makes a pool, before any task has run.
func New(o Options) *Pool {
	p := &Pool{Options: o, inARow: inARow, counters: make([]counter, o.Plan.Counters()), times: make([]atomic.Int64, o.Plan.Counters())}
	for i := range o.Books {
		p.books = append(p.books, &book{pool: p, number: uint32(i), wake: make(chan struct{}, 1)})
	}
	for c := range p.counters {
		if o.Owner[c] >= 0 {
			b := p.books[o.Owner[c]]
			b.tasks = append(b.tasks, uint32(c))
			p.left.Add(1)
		}
	}
	for _, b := range p.books {
		b.round, b.next = make([]uint32, len(b.tasks)), make([]uint32, len(b.tasks))
		b.ended = make([]bool, len(b.tasks))
		b.look = newBits(len(b.tasks))
		for l := range b.tasks {
			b.round[l] = 1
			b.look.set(uint32(l))
		}
	}
	p.over.Store(p.left.Load() == 0)
	p.findEdges()
	return p
}

// findEdges finds the pairs of a counter and a book that waits for it.
func (p *Pool) findEdges() {
	n := len(p.counters)
	p.first, p.begin = make([]uint32, n+1), make([]uint32, n+1)
	for c := range p.counters {
		p.first[c+1] = p.first[c] + uint32(len(p.Plan.When(c)))
	}
	p.needs = make([]need, p.first[n])
	last := make([]uint32, n) // the last book that was seen, counted from 1
	each := func(f func(c, book uint32), is func(need, c uint32)) {
		clear(last)
		for _, b := range p.books {
			for _, task := range b.tasks {
				for i, when := range p.Plan.When(int(task)) {
					c := uint32(when.Counter())
					if last[c] != b.number+1 {
						last[c] = b.number + 1
						f(c, b.number)
					}
					is(p.first[task]+uint32(i), c)
				}
			}
		}
	}
	each(func(c, _ uint32) { p.begin[c+1]++ }, func(uint32, uint32) {})
	for c := range p.counters {
		p.begin[c+1] += p.begin[c]
	}
	p.edges = make([]edge, int(p.begin[n])+len(p.books))
	next := append([]uint32(nil), p.begin...)
	each(func(c, book uint32) {
		p.edges[next[c]].book = book
		next[c]++
	}, func(i, c uint32) {
		p.needs[i].edge = next[c] - 1
	})
	for c := range p.counters {
		for i, when := range p.Plan.When(c) {
			p.needs[p.first[c]+uint32(i)].Condition = when
		}
	}
	for i := range p.books {
		p.edges[p.again(uint32(i))].book = uint32(i)
	}
}

// again is the edge that says only that its book has something to look at. Each book has one, behind
// all others.
func (p *Pool) again(book uint32) uint32 { return p.begin[len(p.counters)] + book }

// Times are the mean times of the tasks' bodies in nanoseconds, 0 where none was timed. Any goroutine may
// ask.
func (p *Pool) Times() []int64 {
	all := make([]int64, len(p.times))
	for i := range all {
		all[i] = p.times[i].Load()
	}
	return all
}

// Stop has all workers return after the bodies that run now. Any goroutine may call it.
func (p *Pool) Stop() {
	p.point()
	p.over.Store(true)
	for _, b := range p.books {
		p.call(b)
	}
}

// Work runs tasks until none has a round left, or Stop was called.
func (p *Pool) Work(worker int) {
	for p.works(worker) {
	}
}

// works is Work until a task dies. It reports whether the worker goes on.
func (p *Pool) works(worker int) (on bool) {
	over := false
	defer func() {
		if over {
			return
		}
		value := recover()
		if b := p.books[worker].holds; b != nil {
			p.release(worker, b)
		}
		p.Died(worker, value)
		on = value != nil
	}()
	for own := p.books[worker]; !p.isOver(); {
		own.work(worker)
		if !p.isOver() && !p.help(worker) {
			own.sleep()
		}
	}
	over = true
	return false
}

// help runs a task of another book, if one is worth a look.
func (p *Pool) help(worker int) (helped bool) {
	for i := 1; i < len(p.books); i++ {
		b := p.books[(worker+i)%len(p.books)]
		if !b.short.Load() && b.one(worker) {
			return true
		}
	}
	return false
}

// callHelp wakes one worker that sleeps.
func (p *Pool) callHelp() {
	for _, b := range p.books {
		if p.load(&b.idle) != 0 {
			b.rise()
			return
		}
	}
}

// publish says that a task has done a round, and tells the books that wait for it. The caller holds the
// lock of the task's own book.
func (b *book) publish(c, round uint32) {
	p := b.pool
	p.store(&p.counters[c].done, round)
	for i := p.begin[c]; i < p.begin[c+1]; i++ {
		switch e := &p.edges[i]; {
		case e.book == b.number:
			b.rouse(e)
		case p.load(&e.armed) != 0:
			p.store(&e.armed, 0)
			p.books[e.book].post(i)
		}
	}
}

// met reports whether a task may run round k. If not, it returns what the task is short of.
func (p *Pool) met(task, k uint32) (short *need, ok bool) {
	for i := p.first[task]; i < p.first[task+1]; i++ {
		if n := &p.needs[i]; !n.Met(k, p.load(&p.counters[n.Counter()].done)) {
			return n, false
		}
	}
	return nil, true
}

// ends notes that a task has no round left.
func (p *Pool) ends() {
	p.point()
	left := p.left.Add(-1)
	if p.saw(uint32(left)); left == 0 {
		p.Stop()
	}
}

func (p *Pool) isOver() bool {
	p.point()
	over := p.over.Load()
	if p.saw(0); over {
		p.saw(1)
	}
	return over
}

// call ends the sleep of a book's worker, or keeps it from sleeping.
func (p *Pool) call(b *book) {
	p.point()
	select {
	case b.wake <- struct{}{}:
		p.signal(b)
	default: // it was called already
	}
}

func (p *Pool) load(word *atomic.Uint32) uint32 {
	p.point()
	v := word.Load()
	p.saw(v)
	return v
}

func (p *Pool) store(word *atomic.Uint32, v uint32) {
	p.point()
	word.Store(v)
}

// probe lets the simulator stop a worker between two steps of the pool. It is told of each step
// before it is made, and of the value that the step has seen.
type probe interface {
	point()
	saw(v uint32)
	sleep(b *book)               // returns when the worker would not sleep any more
	signal(b *book)              // the worker may have to wake up
	stay(b *book, ticket uint32) // returns when the ticket has the lock
	turn(b *book, ticket uint32) // the ticket has it
}

func (p *Pool) point() {
	if invariant.Enabled && p.probe != nil {
		p.probe.point()
	}
}

func (p *Pool) saw(v uint32) {
	if invariant.Enabled && p.probe != nil {
		p.probe.saw(v)
	}
}

func (p *Pool) park(b *book) {
	if invariant.Enabled && p.probe != nil {
		p.probe.sleep(b)
	}
}

func (p *Pool) signal(b *book) {
	if invariant.Enabled && p.probe != nil {
		p.probe.signal(b)
	}
}

func (p *Pool) stay(b *book, ticket uint32) {
	if invariant.Enabled && p.probe != nil {
		p.probe.stay(b, ticket)
	}
}

func (p *Pool) turn(b *book, ticket uint32) {
	if invariant.Enabled && p.probe != nil {
		p.probe.turn(b, ticket)
	}
}
