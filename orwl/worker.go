package orwl

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/topology"
)

// pool runs the step tasks of a run.
//
// A step that becomes ready by the release of a worker is that worker's next one. All
// others, and those that became ready by something else, are in the queue of a worker.
// A worker without steps searches the queues of all workers for a moment, and then
// sleeps.
//
// No step is forgotten: a worker that sleeps counts itself in sleeping before it looks at
// the queues a last time, and a push puts the step into a queue before it looks at
// sleeping. So one of them sees the other.
type pool struct {
	faults  bool           // a step may use a view too late
	cpus    *topology.Tree // workers are pinned to its ranks; nil: they are not
	refuse  func(error)    // ends the run because a worker cannot be pinned
	workers []*worker
	left    atomic.Int64 // steps that have not ended

	searching atomic.Int32 // workers that search
	sleeping  atomic.Int32 // workers that sleep, or are about to
	wake      chan struct{}
	over      chan struct{} // closed when no step is left, or the run has ended
	end       sync.Once

	drowsy func() // a test's: called between the search and the sleep
}

// worker is a goroutine that runs steps.
type worker struct {
	pool   *pool
	number int

	first   *step // to run next; only the worker uses it
	inRow   int   // how often it has run first without looking at the queue
	current *step // that runs

	_     [64]byte // what others touch
	mu    sync.Mutex
	queue []*step // from head on, in the order of coming
	head  int
	ready atomic.Int64 // how many are in the queue
	_     [64]byte
}

// mostInRow is how often a worker runs what it has made ready itself before it looks at its
// queue, so that no step waits for ever.
const mostInRow = 64

// searches is how often a worker looks at all queues before it sleeps: some microseconds.
const searches = 200

// steps runs the step tasks of this node, and returns when they have ended.
func (rt *Runtime) steps(r *run) {
	var all []*step
	for _, t := range r.tasks {
		if t.step != nil && t.here() {
			all = append(all, t.step)
		}
	}
	if len(all) == 0 {
		return
	}
	n := r.seats.workers
	p := &pool{
		faults: rt.pages != nil, cpus: r.seats.cpus,
		wake: make(chan struct{}, n), over: make(chan struct{}),
		refuse: func(why error) { rt.stop(r, why) },
	}
	p.left.Store(int64(len(all)))
	for i := range n {
		p.workers = append(p.workers, &worker{pool: p, number: i})
	}
	for _, s := range all {
		s.home = p.workers[s.seat]
	}
	stop := context.AfterFunc(r.ctx, p.finish)
	defer stop()
	var work sync.WaitGroup
	for _, w := range p.workers {
		work.Go(w.work)
	}
	for _, s := range all {
		s.arm()
	}
	work.Wait()
	for _, s := range all { // of a run that has ended
		if !s.task.ended.Load() {
			s.end(context.Cause(r.ctx))
		}
	}
}

// arm begins to wait for the accesses of the first round.
func (s *step) arm() {
	if s.rounds == 0 {
		s.task.began()
		s.end(nil)
		return
	}
	ready, err := s.await()
	if err != nil {
		s.end(err)
	} else if ready {
		s.home.push(s)
	}
}

// done counts a step that has ended.
func (p *pool) done() {
	if p.left.Add(-1) == 0 {
		p.finish()
	}
}

// finish has all workers return.
func (p *pool) finish() { p.end.Do(func() { close(p.over) }) }

// next makes a step that a release of w has made ready w's next one.
func (w *worker) next(s *step) {
	if w.first == nil {
		w.first = s
	} else {
		w.push(s)
	}
}

// push puts a step that is ready into the worker's queue.
func (w *worker) push(s *step) {
	w.mu.Lock()
	if len(w.queue) == cap(w.queue) && w.head > 0 {
		n := copy(w.queue, w.queue[w.head:])
		w.queue, w.head = w.queue[:n], 0
	}
	w.queue = append(w.queue, s)
	w.ready.Store(int64(len(w.queue) - w.head))
	w.mu.Unlock()
	if p := w.pool; p.sleeping.Load() != 0 && p.searching.Load() == 0 {
		select {
		case p.wake <- struct{}{}:
		default: // as many as there are have been called
		}
	}
}

// pop takes the first step out of the worker's queue, nil if there is none.
func (w *worker) pop() *step {
	if w.ready.Load() == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.head == len(w.queue) {
		return nil
	}
	s := w.queue[w.head]
	w.queue[w.head] = nil
	w.head++
	if w.head == len(w.queue) {
		w.queue, w.head = w.queue[:0], 0
	}
	w.ready.Store(int64(len(w.queue) - w.head))
	return s
}

// work runs steps until no step is left, or the run has ended. A worker that cannot be
// pinned ends the run.
func (w *worker) work() {
	unpin, err := w.pin()
	if err != nil {
		w.pool.refuse(err)
		return
	}
	defer unpin()
	if w.pool.faults {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	}
	for w.current = w.take(); w.current != nil; w.current = w.take() {
		w.runs()
	}
}

// runs runs the current step and those that it makes ready, until there is none or one has
// panicked.
func (w *worker) runs() {
	err := error(ErrExit) // unless the step returns
	defer func() {
		if value := recover(); value != nil {
			err = w.current.task.died(value)
		}
		if err != nil {
			w.current.end(err)
		}
	}()
	for w.current != nil {
		err = ErrExit
		var more bool
		s := w.current
		if more, err = s.run(w); err != nil {
			return
		}
		if more {
			if more, err = s.await(); err != nil {
				return
			}
			if more {
				w.next(s)
			}
		} else {
			s.end(nil)
		}
		w.current = w.following()
	}
}

// following is the step that the worker has made ready itself, or nil.
func (w *worker) following() *step {
	s := w.first
	if s == nil {
		w.inRow = 0
		return nil
	}
	if w.inRow++; w.inRow >= mostInRow {
		w.inRow = 0
		if other := w.pop(); other != nil {
			return other // and s stays the first
		}
	}
	w.first = nil
	return s
}

// take waits for a step, and returns nil when the pool is over.
func (w *worker) take() *step {
	p := w.pool
	for {
		if s := w.first; s != nil {
			w.first = nil
			return s
		}
		if s := w.pop(); s != nil {
			return s
		}
		p.searching.Add(1)
		for range searches {
			if s := w.steal(); s != nil {
				p.searching.Add(-1)
				return s
			}
		}
		if p.drowsy != nil {
			p.drowsy()
		}
		p.sleeping.Add(1)
		p.searching.Add(-1)
		if s := w.steal(); s != nil {
			p.sleeping.Add(-1)
			return s
		}
		select {
		case <-p.wake:
			p.sleeping.Add(-1)
		case <-p.over:
			p.sleeping.Add(-1)
			return nil
		}
	}
}

// steal takes a step from the queue of any worker, its own first.
func (w *worker) steal() *step {
	all := w.pool.workers
	for i := range all {
		if s := all[(w.number+i)%len(all)].pop(); s != nil {
			return s
		}
	}
	return nil
}
