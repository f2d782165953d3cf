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

	first *T  // to run next; only the worker uses it
	since int // how many steps it has run since the oldest one of its queue

	_     [64]byte // what others touch
	mu    sync.Mutex
	queue []*T // from head on, the oldest first
	head  int
	ready atomic.Int64 // how many are in the queue; changed under mu
	_     [64]byte
}

// mostSince is how many steps a worker runs before it takes the oldest one of its queue, so
// that no step waits for ever.
const mostSince = 64

// age says which step of a queue is meant.
type age bool

const (
	oldest age = false
	newest age = true
)

// Number is the worker's number.
func (w *Worker[T]) Number() int { return w.number }

// Ready takes a step that the worker has made ready. It is the worker's next one, or waits in
// its queue if it has a next one already. A step with another home goes there if this worker
// has something to do without it, so that steps stay with the worker that has their memory in
// its cache. Only the worker calls it.
func (w *Worker[T]) Ready(s *T, home *Worker[T]) {
	switch {
	case w != home && (w.first != nil || w.pool.load64(&w.ready) != 0):
		home.Push(s)
	case w.first == nil:
		w.first = s
	default:
		w.Push(s)
	}
}

// Following is the worker's next step, nil if it has none: the first, or the newest of its queue,
// since what that one needs is still in the cache. Thieves take the oldest.
func (w *Worker[T]) Following() *T {
	if w.since++; w.since >= mostSince {
		w.since = 0
		if s := w.take(oldest); s != nil {
			return s // and the first stays
		}
	}
	if s := w.first; s != nil {
		w.first = nil
		return s
	}
	return w.take(newest)
}

// Push puts a step that is ready into the worker's queue, and has a sleeper come for it.
func (w *Worker[T]) Push(s *T) {
	w.put(s)
	w.pool.rouse()
}

func (w *Worker[T]) put(s *T) {
	w.pool.point()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == cap(w.queue) && w.head > 0 {
		n := copy(w.queue, w.queue[w.head:])
		w.queue, w.head = w.queue[:n], 0
	}
	w.queue = append(w.queue, s)
	w.ready.Store(int64(len(w.queue) - w.head))
}

// take takes a step out of the worker's queue, the newest or the oldest, nil if there is none.
func (w *Worker[T]) take(which age) *T {
	if w.pool.load64(&w.ready) == 0 {
		return nil
	}
	w.pool.point()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.head == len(w.queue) {
		w.pool.saw(0)
		return nil
	}
	i := w.head
	if which == newest {
		i = len(w.queue) - 1
	}
	s := w.queue[i]
	w.queue[i] = nil
	if which == newest {
		w.queue = w.queue[:i]
	} else {
		w.head++
	}
	w.ready.Store(int64(len(w.queue) - w.head))
	if w.head == len(w.queue) {
		w.queue, w.head = w.queue[:0], 0
	}
	w.pool.saw(1)
	return s
}
