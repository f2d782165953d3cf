package workers

import (
	"sync"
	"sync/atomic"
)

// Worker holds the steps that are ready for one worker. One goroutine at a time uses it,
// but any may Push.
type Worker[T any] struct {
	pool   *Pool[T]
	number int

	first *T   // to run next; only the worker uses it
	rank  Rank // of first
	since int  // how many steps it has run since the oldest one of its queues

	_      [64]byte     // what others touch, mostly only if some steps are urgent
	top    atomic.Int64 // the highest rank of a step in the queues, Plain if there is none
	_      [64]byte     // what others touch
	mu     sync.Mutex
	queues [Ranks]queue[T] // changed under mu
	ready  atomic.Int64    // how many steps are in the queues
	_      [64]byte
}

// Rank says how urgent a step is, from Plain to Ranks-1. Of the steps that are ready for a
// worker, it runs the most urgent ones first.
type Rank uint8

const (
	Plain Rank = 0
	Ranks Rank = 3
)

// mostSince is how many steps a worker runs before it takes the oldest one of its queues, so
// that no step waits for ever.
const mostSince = 64

// Number is the worker's number.
func (w *Worker[T]) Number() int { return w.number }

// Ready takes a step that the worker has made ready. It is the worker's next one, or waits in
// its queue if it has a next one already, and that one is as urgent. A step with another home
// goes there if this worker has something to do without it, so that steps stay with the worker
// that has their memory in its cache. Only the worker calls it.
func (w *Worker[T]) Ready(s *T, r Rank, home *Worker[T]) {
	if w != home && (w.first != nil || w.pool.load64(&w.ready) != 0) {
		home.Push(s, r)
		return
	}
	if w.first == nil || r > w.rank {
		w.first, w.rank, s, r = s, r, w.first, w.rank
	}
	if s != nil {
		w.Push(s, r)
	}
}

// Following is the worker's next step, nil if it has none: the first, unless its queue has a
// more urgent one, or the newest of the most urgent ones, since what that one needs is still in
// the cache.
func (w *Worker[T]) Following() *T {
	if w.since++; w.since >= mostSince {
		w.since = 0
		if s := w.take(oldest); s != nil {
			return s // and the first stays
		}
	}
	s := w.first
	if w.first = nil; s == nil {
		return w.take(newest)
	}
	if int64(w.rank) < w.pool.load64(&w.top) {
		w.Push(s, w.rank) // there it grows old
		return w.take(newest)
	}
	return s
}

// Push puts a step that is ready into the worker's queue, and has a sleeper come for it.
func (w *Worker[T]) Push(s *T, r Rank) {
	w.put(s, r)
	w.pool.rouse()
}

func (w *Worker[T]) put(s *T, r Rank) {
	w.pool.point()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues[r].put(s)
	w.count()
}

// take takes a step out of the worker's queues, nil if there is none: the newest of the most
// urgent, or the oldest of the least urgent.
func (w *Worker[T]) take(which age) *T {
	if w.pool.load64(&w.ready) == 0 {
		return nil
	}
	w.pool.point()
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.pick(which)
	if q == nil {
		w.pool.saw(0)
		return nil
	}
	s := q.take(which)
	w.count()
	w.pool.saw(1)
	return s
}

// pick finds the queue with the highest rank, or the lowest if the oldest step is meant, nil
// if all are empty.
func (w *Worker[T]) pick(which age) *queue[T] {
	for i := range w.queues {
		q := &w.queues[i]
		if which == newest {
			q = &w.queues[len(w.queues)-1-i]
		}
		if q.len() != 0 {
			return q
		}
	}
	return nil
}

// count notes how many steps are in the queues, and their highest rank.
func (w *Worker[T]) count() {
	n, top := 0, 0
	for r := range w.queues {
		if k := w.queues[r].len(); k != 0 {
			n, top = n+k, r
		}
	}
	if int64(top) != w.top.Load() {
		w.top.Store(int64(top))
	}
	w.ready.Store(int64(n))
}
