package trace

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// sink gets the events of one task, one after the other. It must not keep them.
type sink interface {
	take(w *watch, e *Event)
	// on reports whether the sink wants events.
	on() bool
}

// follower makes events of what the places of all tasks do.
type follower struct {
	clock func() time.Duration
	sink  func(t *orwl.Task) sink // made once for each task; nil: it is not followed
	over  func(sink)              // nil, or gets the sink of a task that is forgotten; mu is held

	mu    sync.Mutex
	tasks map[*orwl.Task]*tail
}

// tail belongs to a task that is followed. The task's goroutine uses it, and before that the
// goroutine that starts the task.
type tail struct {
	task  *orwl.Task
	clock func() time.Duration
	sink  sink
	event Event // kept here so that none has to be allocated
	count int   // of accesses
}

// of is the tail of a task.
func (f *follower) of(t *orwl.Task) *tail {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tasks == nil {
		f.tasks = make(map[*orwl.Task]*tail)
	}
	if f.tasks[t] == nil {
		f.tasks[t] = &tail{task: t, clock: f.clock, sink: f.sink(t)}
	}
	return f.tasks[t]
}

// forget drops the tail of a task, and gives its sink to the owner of the follower.
func (f *follower) forget(t *orwl.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if tail := f.tasks[t]; tail != nil && f.over != nil && tail.sink != nil {
		f.over(tail.sink)
	}
	delete(f.tasks, t)
}

// Observe implements orwl.Observer.
func (f *follower) Observe(e orwl.Event) {
	switch e.Kind {
	case orwl.Declared:
		if t := f.of(e.Task); t.sink != nil {
			a := inner.OfAccess(e.Access)
			access := &Access{Resource: a.Resource().Name(), Write: a.Mode() == queue.Write}
			a.Place().Observe(&watch{tail: t, access: access, number: t.count, next: none}, followed)
			t.count++
		}
	case orwl.Began:
		f.of(e.Task).tell(Began, nil)
	case orwl.Ended:
		f.of(e.Task).tell(Ended, e.Err)
	case orwl.Forgotten:
		f.forget(e.Task)
	}
}

// followed are the kinds of events that a watch hears.
const followed = queue.AllOrdered &^ (queue.Failed | queue.GrantedFar)

func (t *tail) tell(k Kind, err error) {
	if t.sink != nil && t.sink.on() {
		t.event = Event{At: t.clock(), Kind: k, Task: t.task, Err: err}
		t.sink.take(nil, &t.event)
	}
}

// watch is the observer of an access. All of it belongs to the task's goroutine, except for
// what Arrived sets.
type watch struct {
	*tail
	access *Access
	number int // of the task's accesses

	fence, version uint64
	holds          bool
	next           time.Duration // when it was renewed, if it is about to be released

	arrived atomic.Int64 // when the bytes came, plus one; 0 if none have
	bytes   atomic.Int64

	turn   Turn // in the making, by the Recording
	summed bool // there was no room for its wait, which is in the sums
}

func (w *watch) tell(k Kind, at time.Duration) { w.give(Event{At: at, Kind: k}) }

func (w *watch) give(e Event) {
	e.Task, e.Access, e.Fence, e.Version = w.task, w.access, w.fence, w.version
	w.event = e
	w.sink.take(w, &w.event)
}

// Observe implements queue.Observer. When a pair renews, Requested comes just before
// Released, and has the same time.
func (w *watch) Observe(e queue.Event) {
	if !w.sink.on() {
		return
	}
	if e.Kind == queue.Arrived { // from another goroutine
		w.arrived.CompareAndSwap(0, int64(w.clock())+1)
		w.bytes.Store(int64(e.Bytes))
		return
	}
	at := w.next
	if e.Kind != queue.Released || at == none {
		at = w.clock()
	}
	switch e.Kind {
	case queue.Requested:
		if w.holds {
			w.next = at
		}
		w.tell(Requested, at)
	case queue.Waiting:
		w.tell(Waiting, at)
	case queue.Acquired:
		w.settle()
		w.holds, w.fence, w.version = true, e.Place.Fence(), e.Place.Version()
		w.tell(Acquired, at)
	case queue.Releasing:
		w.next = none
		w.tell(Releasing, at)
	case queue.Released:
		w.holds, w.next = false, none
		w.tell(Released, at)
		w.fence, w.version = 0, 0
	case queue.Withdrawn:
		w.settle()
		w.tell(Cancelled, at)
	}
}

// settle tells of the bytes that have come for a request that is over now. No more can come.
func (w *watch) settle() {
	if at := w.arrived.Swap(0); at != 0 {
		w.give(Event{At: time.Duration(at - 1), Kind: Prefetched, Bytes: int(w.bytes.Load())})
	}
}
