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
	inRow int // how often it has run first without looking at the queue

	_     [64]byte // what others touch
	mu    sync.Mutex
	queue []*T // from head on, in the order of coming
	head  int
	ready atomic.Int64 // how many are in the queue; changed under mu
	_     [64]byte
}

// mostInRow is how often a worker runs what it has made ready itself before it looks at its
// queue, so that no step waits for ever.
const mostInRow = 64

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

// Following is the worker's next step: mostly the one that it has made ready itself, otherwise
// one of its queue. It is nil if there is none.
func (w *Worker[T]) Following() *T {
	s := w.first
	if s == nil {
		w.inRow = 0
		return w.pop()
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

// pop takes the first step out of the worker's queue, nil if there is none.
func (w *Worker[T]) pop() *T {
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
	s := w.queue[w.head]
	w.queue[w.head] = nil
	w.head++
	w.ready.Store(int64(len(w.queue) - w.head))
	if w.head == len(w.queue) {
		w.queue, w.head = w.queue[:0], 0
	}
	w.pool.saw(1)
	return s
}
