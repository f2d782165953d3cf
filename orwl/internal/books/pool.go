package books

import (
	"math"
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
	Owner []int32 // by counter: the worker in whose book it stands
	Books int
	// Run runs a round, counted from 1, on a worker.
	Run func(worker, task int, round uint32) Outcome
	// Now reads a clock in nanoseconds. Without it all bodies run without the lock.
	Now func() int64
	// Patience is how often a worker looks at its mail before it sleeps.
	Patience int
}

// Pool is the workers of a plan.
type Pool struct {
	Options
	counters []counter
	edges    []edge
	begin    []uint32 // by counter: its first edge; and the end of the last one
	books    []*book

	inARow int

	left atomic.Int32 // tasks with rounds left
	over atomic.Bool

	probe probe // nil but in tests
}

// counter is how many rounds a task has published. It has one writer at a time: the worker that runs
// the task.
type counter struct{ done atomic.Uint32 }

// edge is a counter that a book waits for and does not have.
type edge struct {
	counter uint32
	book    uint32
	armed   atomic.Uint32 // 1: put the edge into the mail when the counter changes
	next    uint32        // in the mail: the edge below, counted from 1
}

// New makes a pool, before any task has run.
func New(o Options) *Pool {
	p := &Pool{Options: o, inARow: inARow, counters: make([]counter, o.Plan.Counters())}
	p.left.Store(int32(o.Plan.Counters()))
	for i := range o.Books {
		p.books = append(p.books, &book{pool: p, number: uint32(i), wake: make(chan struct{}, 1)})
	}
	for c := range p.counters {
		b := p.books[o.Owner[c]]
		b.tasks = append(b.tasks, uint32(c))
	}
	for _, b := range p.books {
		b.round, b.next = make([]uint32, len(b.tasks)), make([]uint32, len(b.tasks))
		b.ended = make([]bool, len(b.tasks))
		b.look = newBits(len(b.tasks))
		b.first = make([]uint32, len(p.counters))
		for l := range b.tasks {
			b.round[l] = 1
			b.look.set(uint32(l))
		}
	}
	p.findEdges()
	return p
}

// findEdges finds the pairs of a counter and another book that waits for it.
func (p *Pool) findEdges() {
	last := make([]uint32, len(p.counters)) // the last book that was noted, counted from 1
	p.begin = make([]uint32, len(p.counters)+1)
	each := func(f func(c, book uint32)) {
		clear(last)
		for _, b := range p.books {
			for _, u := range b.tasks {
				for _, w := range p.Plan.When(int(u)) {
					if c := uint32(w.Counter()); p.Owner[c] != int32(b.number) && last[c] != b.number+1 {
						last[c] = b.number + 1
						f(c, b.number)
					}
				}
			}
		}
	}
	each(func(c, _ uint32) { p.begin[c+1]++ })
	for c := range p.counters {
		p.begin[c+1] += p.begin[c]
	}
	p.edges = make([]edge, int(p.begin[len(p.counters)])+len(p.books))
	next := append([]uint32(nil), p.begin...)
	each(func(c, b uint32) {
		e := &p.edges[next[c]]
		e.counter, e.book = c, b
		next[c]++
	})
	for i, b := range p.books {
		b.waits = make([]bool, len(p.edges))
		e := &p.edges[p.again(uint32(i))]
		e.counter, e.book = again, uint32(i)
	}
}

// again is the counter of an edge that only says that its book has something to look at. Each book
// has one, behind all others.
const again = math.MaxUint32

func (p *Pool) again(book uint32) uint32 { return p.begin[len(p.counters)] + book }

// edge is the edge of a counter and a book.
func (p *Pool) edge(c, book uint32) uint32 {
	for e := p.begin[c]; ; e++ {
		if p.edges[e].book == book {
			return e
		}
	}
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
	own := p.books[worker]
	for {
		own.work(worker)
		if p.isOver() {
			return
		}
		if !p.help(worker) {
			own.sleep()
		}
		if p.isOver() {
			return
		}
	}
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

// publish says that a task has done a round, and tells the books that wait for it. It does not look at
// what hangs on it in the task's own book.
func (p *Pool) publish(c, round uint32) {
	p.store(&p.counters[c].done, round)
	for i := p.begin[c]; i < p.begin[c+1]; i++ {
		if e := &p.edges[i]; p.load(&e.armed) != 0 {
			p.store(&e.armed, 0)
			p.books[e.book].post(i)
		}
	}
}

// met reports whether a task may run round k. If not, it is short of a counter.
func (p *Pool) met(task, k uint32) (short uint32, ok bool) {
	for _, w := range p.Plan.When(int(task)) {
		if !w.Met(k, p.load(&p.counters[w.Counter()].done)) {
			return uint32(w.Counter()), false
		}
	}
	return 0, true
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
