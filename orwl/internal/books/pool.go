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

// Owners of counters, beside the numbers of workers.
const (
	Nobody = -1 // it has no rounds, or has them on another node
	Before = -2 // it belongs to the task of the counter before
)

// Options are the counters of a plan, and who runs their rounds. Here a task is what a worker runs: it has the
// number of its first counter.
type Options struct {
	Plan    *plan.Plan
	Owner   []int32 // by counter: the worker in whose book it stands, or one of the constants
	Workers int
	// Urgent, if it is not nil, says by counter which tasks stand first in their book. The others follow in task order.
	Urgent []bool
	// Run runs a round, counted from 1, on a worker.
	Run func(worker, task int, round uint32) Outcome
	// Died is called if Run panics with a value, or ends its goroutine: then the value is nil. The
	// task has failed.
	Died func(worker int, value any)
	// Turn, if it is not nil, is told of an empty turn of a counter, before it is published. last says that the
	// counter then publishes that it has ended.
	Turn func(counter int, round uint32, last bool)
	// Flush, if it is not nil, has a worker send what Run has kept back for other nodes. Rounds of urgent tasks with short
	// bodies follow each other without it. It is called before anything else, and after a long body.
	Flush func(worker int)
	// Ears, if it is not nil, takes what comes from other nodes.
	Ears Ears
	// Idle, if it is not nil, is called when no counter has a round left. Then the pool goes on with empty turns until
	// Stop. Without it, the pool stops by itself.
	Idle func()
	// Waits, if it is not nil, is told of a task whose round waits for the round of another counter.
	Waits func(task, other int)
	// Now reads a clock in nanoseconds. Without it all bodies run without the lock.
	Now func() int64
	// Rests has the pool count for how long workers sleep, by Now.
	Rests bool
	// Patience is how often a worker looks at its mail before it sleeps.
	Patience int
}

// Ears take what comes from other nodes that do not wake this one. A worker attends but while it sleeps, and in long
// bodies. Look and Leave report by Raise.
type Ears interface {
	Attend()
	Look() bool
	Leave()
}

// Pool is the workers of a plan.
type Pool struct {
	Options
	counters []counter
	when     []plan.Condition // of all counters; a task's stand together, since its counters do
	first    []uint32         // by counter: its first condition; and the end of the last one
	waitsOn  []uint32         // by condition: the edge of its counter and the task's book
	edges    []edge
	begin    []uint32 // by counter: its first edge; and the end of the last one
	books    []*book  // of the workers

	times []atomic.Int64 // by task: the mean time of its body in nanoseconds, of those that were timed

	inARow    int
	mostLooks int

	left atomic.Int32 // counters with rounds left
	over atomic.Bool

	probe probe // nil but in tests
}

// counter is how many rounds have been published. It has one writer at a time: the goroutine that runs the
// round.
type counter struct{ done atomic.Uint32 }

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
	n := o.Plan.Counters()
	p := &Pool{Options: o, inARow: inARow, mostLooks: mostLooks, counters: make([]counter, n), times: make([]atomic.Int64, n)}
	for range o.Workers {
		p.newBook()
	}
	for _, urgent := range []bool{true, false} {
		for c, number := range p.Owner {
			if number >= 0 && urgent == (o.Urgent != nil && o.Urgent[c]) {
				b := p.books[number]
				b.tasks = append(b.tasks, uint32(c))
				if p.left.Add(1); urgent {
					b.urgent++
				}
			}
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
	if p.left.Load() == 0 {
		if p.over.Store(p.Idle == nil); p.Idle != nil {
			p.Idle()
		}
	}
	p.findEdges()
	return p
}

func (p *Pool) newBook() {
	b := &book{pool: p, number: uint32(len(p.books))}
	b.sleepIn(&b.own)
	p.books = append(p.books, b)
}

// findEdges finds the pairs of a counter and a book that waits for it.
func (p *Pool) findEdges() {
	n := len(p.counters)
	p.when, p.first = p.Plan.All()
	p.waitsOn, p.begin = make([]uint32, len(p.when)), make([]uint32, n+1)
	last := make([]uint32, n) // the last book that was seen, counted from 1
	each := func(f func(c, book uint32), is func(condition, c uint32)) {
		clear(last)
		for _, b := range p.books {
			for _, task := range b.tasks {
				for i := p.first[task]; i < p.first[p.after(task)]; i++ {
					c := uint32(p.when[i].Counter())
					if last[c] != b.number+1 {
						last[c] = b.number + 1
						f(c, b.number)
					}
					is(i, c)
				}
			}
		}
	}
	each(func(c, _ uint32) { p.begin[c+1]++ }, func(uint32, uint32) {})
	for c := range p.counters {
		p.begin[c+1] += p.begin[c]
	}
	p.edges = make([]edge, int(p.begin[n])+p.Workers)
	next := append([]uint32(nil), p.begin...)
	each(func(c, book uint32) {
		p.edges[next[c]].book = book
		next[c]++
	}, func(i, c uint32) {
		p.waitsOn[i] = next[c] - 1
	})
	for i := range p.books {
		p.edges[p.again(uint32(i))].book = uint32(i)
	}
}

// after is the first counter behind a task's own.
func (p *Pool) after(task uint32) uint32 {
	for task++; int(task) < len(p.Owner) && p.Owner[task] == Before; task++ {
	}
	return task
}

// again is the edge that says only that its book has something to look at. Each worker's book has one, behind
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

// Done is the round that a counter has published. Any goroutine may ask.
func (p *Pool) Done(c int) uint32 { return p.counters[c].done.Load() }

// Asleep is how many workers sleep. Any goroutine may ask.
func (p *Pool) Asleep() (n int) {
	for _, b := range p.books {
		if b.state.Load() == asleep {
			n++
		}
	}
	return n
}

// Taken is how often a worker has run a task out of the book of another one, for one round or several in a row. Any goroutine may
// ask.
func (p *Pool) Taken() (n uint64) {
	for _, b := range p.books {
		n += b.taken.Load()
	}
	return n
}

// Rested is for how long all workers together have slept, in nanoseconds, if Options.Rests is set. Any goroutine may ask.
func (p *Pool) Rested() (sum int64) {
	for _, b := range p.books {
		rested := b.rested.Load()
		if rested < 0 { // it sleeps
			rested += p.Now() + 1
		}
		sum += rested
	}
	return sum
}

// Stop has all workers return after the bodies that run now. Any goroutine may call it.
func (p *Pool) Stop() {
	p.point()
	p.over.Store(true)
	for _, b := range p.books {
		b.rise()
	}
}

// Work runs tasks until none has a round left, or Stop was called.
func (p *Pool) Work(worker int) {
	for p.works(worker) {
	}
}

// works is Work until a task dies. It reports whether the worker goes on.
func (p *Pool) works(worker int) (on bool) {
	over, own := false, p.books[worker]
	own.attend()
	defer func() {
		if over {
			own.leave()
			return
		}
		value := recover()
		if b := own.holds; b != nil {
			p.release(worker, b)
		}
		p.store(&own.state, busy)
		p.Died(worker, value)
		if on = value != nil; !on {
			own.leave()
		}
	}()
	for !p.isOver() {
		more := own.work(worker)
		if !p.isOver() && !p.help(worker) && !more {
			own.rest()
		}
	}
	over = true
	return false
}

// help runs a task of another book, if one is worth a look.
func (p *Pool) help(worker int) (helped bool) {
	for i := 1; i < p.Workers; i++ {
		b := p.books[(worker+i)%p.Workers]
		if !b.short.Load() && b.one(worker) {
			p.books[worker].taken.Inc()
			return true
		}
	}
	return false
}

// flush has a worker send what it has kept back.
func (p *Pool) flush(worker int) {
	if p.Flush != nil {
		p.Flush(worker)
	}
}

// callHelp wakes one worker that sleeps.
func (p *Pool) callHelp() {
	for _, b := range p.books {
		if s := p.load(&b.state); s != busy && s != away {
			b.rise()
			return
		}
	}
}

// publish says that a round is done, and tells the books that wait for it. The caller holds the lock of the
// counter's own book.
func (b *book) publish(c, round uint32) {
	p := b.pool
	p.store(&p.counters[c].done, round)
	for i := p.begin[c]; i < p.begin[c+1]; i++ {
		if e := &p.edges[i]; e.book == b.number {
			b.rouse(e)
		} else {
			p.mail(i)
		}
	}
}

// mail puts an edge that is armed into the mail of its book, once: two goroutines may raise a counter at a time.
func (p *Pool) mail(i uint32) {
	e := &p.edges[i]
	if p.load(&e.armed) == 0 {
		return
	}
	p.point()
	mine := e.armed.CompareAndSwap(1, 0)
	if p.saw(e.armed.Load()); mine {
		p.books[e.book].post(i)
	}
}

// Raise publishes a round of a counter that has its rounds on another node, unless a later one was published. Any
// goroutine may call it.
func (p *Pool) Raise(c int, round uint32) {
	for done := &p.counters[c].done; ; {
		before := p.load(done)
		if before >= round {
			return
		}
		p.point()
		raised := done.CompareAndSwap(before, round)
		if p.saw(done.Load()); raised {
			break
		}
	}
	for i := p.begin[c]; i < p.begin[c+1]; i++ {
		p.mail(i)
	}
}

// met reports whether a task may run round k. If not, it returns the first condition that is not met.
func (p *Pool) met(task, k uint32) (short uint32, ok bool) {
	for i := p.first[task]; i < p.first[p.after(task)]; i++ {
		if when := p.when[i]; !when.Met(k, p.load(&p.counters[when.Counter()].done)) {
			return i, false
		}
	}
	return 0, true
}

// ends notes that a task has no round left.
func (p *Pool) ends() {
	p.point()
	left := p.left.Add(-1)
	switch p.saw(uint32(left)); {
	case left != 0:
	case p.Idle != nil:
		p.Idle()
	default:
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
