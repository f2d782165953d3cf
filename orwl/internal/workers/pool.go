package workers

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
)

// Pool is a fixed number of workers that share their steps.
//
// No step is forgotten. A worker that is about to sleep counts itself in sleeping, leaves
// searching, and looks at all queues a last time. Push puts the step into a queue before
// it looks at searching and sleeping. So one of them sees the other, or Push sees another
// worker that searches. That one then has the same duty: see more.
type Pool[T any] struct {
	workers  []*Worker[T]
	searches int // how often a worker looks at all queues before it sleeps

	searching atomic.Int32 // workers that search
	sleeping  atomic.Int32 // workers that sleep, or are about to
	wake      chan struct{}
	over      atomic.Bool // Finish was called

	probe probe // nil but in tests
}

// looks is how often a worker looks at a queue before it sleeps. That takes some microseconds, and a
// wake-up takes tens of them. A worker that looks for longer takes the processor from other
// processes, such as the other nodes of this machine.
const looks = 1500

// New makes a pool of n workers.
func New[T any](n int) *Pool[T] {
	p := &Pool[T]{searches: max(1, looks/n), wake: make(chan struct{}, n)}
	for i := range n {
		p.workers = append(p.workers, &Worker[T]{pool: p, number: i})
	}
	return p
}

// Worker is the worker with a number.
func (p *Pool[T]) Worker(number int) *Worker[T] { return p.workers[number] }

// Finish has all workers return. Any goroutine may call it, more than once. It calls as many
// workers as there are, and each sleeps at most once more, since it looks at over when it
// wakes up.
func (p *Pool[T]) Finish() {
	p.point()
	p.over.Store(true)
	for range p.workers {
		p.call()
	}
}

// Take waits for a step, and returns nil when the pool is over. A worker that wakes up
// searches first, also in its own queue: who called it counts on it to call the next one.
func (w *Worker[T]) Take() *T {
	if s := w.first; s != nil {
		w.first = nil
		return s
	}
	if s := w.take(newest); s != nil {
		return s
	}
	for p := w.pool; ; {
		p.add(&p.searching, 1)
		for range p.searches {
			if s := w.steal(); s != nil {
				p.add(&p.searching, -1)
				p.more()
				return s
			}
		}
		p.add(&p.sleeping, 1)
		p.add(&p.searching, -1)
		if s := w.steal(); s != nil {
			p.add(&p.sleeping, -1)
			p.more()
			return s
		}
		p.sleep()
		<-p.wake
		p.add(&p.sleeping, -1)
		if p.ended() {
			return nil
		}
	}
}

// steal takes a step from the queue of any worker, its own first.
func (w *Worker[T]) steal() *T {
	all := w.pool.workers
	for i := range all {
		if s := all[(w.number+i)%len(all)].take(oldest); s != nil {
			return s
		}
	}
	return nil
}

// more wakes a worker if a step is left. A worker that has searched calls it when it has
// found one: a Push may have counted on it.
func (p *Pool[T]) more() {
	for _, w := range p.workers {
		if p.load64(&w.ready) != 0 {
			p.rouse()
			return
		}
	}
}

// rouse wakes a worker that sleeps, unless one searches.
func (p *Pool[T]) rouse() {
	if p.load(&p.sleeping) != 0 && p.load(&p.searching) == 0 {
		p.call()
	}
}

// call ends the sleep of a worker, or keeps the next one from sleeping.
func (p *Pool[T]) call() {
	p.point()
	select {
	case p.wake <- struct{}{}:
		p.signal()
	default: // as many as there are have been called
	}
}

func (p *Pool[T]) add(word *atomic.Int32, delta int32) {
	p.point()
	p.saw(int64(word.Add(delta)))
}

func (p *Pool[T]) load(word *atomic.Int32) int32 {
	p.point()
	v := word.Load()
	p.saw(int64(v))
	return v
}

// ended reports whether Finish was called.
func (p *Pool[T]) ended() bool {
	p.point()
	over := p.over.Load()
	if over {
		p.saw(1)
	} else {
		p.saw(0)
	}
	return over
}

func (p *Pool[T]) load64(word *atomic.Int64) int64 {
	p.point()
	v := word.Load()
	p.saw(v)
	return v
}

// probe lets the simulator stop a worker between two steps of the pool. It is told of each
// step before it is made, and of the value that the step has seen. A critical section has
// one step, since whatever else it touches is seen by other critical sections only.
type probe interface {
	point()
	saw(v int64)
	sleep()  // returns when a worker would not sleep any more
	signal() // a worker may have to wake up
}

func (p *Pool[T]) point() {
	if invariant.Enabled && p.probe != nil {
		p.probe.point()
	}
}

func (p *Pool[T]) saw(v int64) {
	if invariant.Enabled && p.probe != nil {
		p.probe.saw(v)
	}
}

func (p *Pool[T]) sleep() {
	if invariant.Enabled && p.probe != nil {
		p.probe.sleep()
	}
}

func (p *Pool[T]) signal() {
	if invariant.Enabled && p.probe != nil {
		p.probe.signal()
	}
}
