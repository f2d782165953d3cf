package trace

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// kind is a kind of event.
type kind uint8

// The events of tasks and of accesses.
const (
	began      kind = iota + 1 // the task
	ended                      // the task
	requested                  // the access is announced
	prefetched                 // its bytes have come from another node; it comes when the access is acquired
	waiting                    // the task stops for it
	acquired
	releasing // it is about to be released
	released
	cancelled
)

// event is one thing that has happened to a task.
type event struct {
	at   time.Duration // since the clock began
	kind kind
	task *orwl.Task

	fence, version uint64 // the grant's, from its acquisition to its release
	bytes          int    // the bytes that have come, if prefetched
}

// follower makes events of what the places of all tasks do.
type follower struct {
	clock  func() time.Duration
	record func(t *orwl.Task) *Recording // made once for each task; nil: it is not followed
	over   func(*Recording)              // gets the recording of a task that is forgotten; mu is held

	mu    sync.Mutex
	tasks map[*orwl.Task]*tail
}

// tail belongs to a task that is followed. The task's goroutine uses it, and before that the
// goroutine that starts the task.
type tail struct {
	task      *orwl.Task
	clock     func() time.Duration
	recording *Recording
	event     event // kept here so that none has to be allocated
	count     int   // of accesses
}

// of is the tail of a task.
func (f *follower) of(t *orwl.Task) *tail {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tasks == nil {
		f.tasks = make(map[*orwl.Task]*tail)
	}
	if f.tasks[t] == nil {
		f.tasks[t] = &tail{task: t, clock: f.clock, recording: f.record(t)}
	}
	return f.tasks[t]
}

// forget drops the tail of a task, and gives its recording to the recorder.
func (f *follower) forget(t *orwl.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if tail := f.tasks[t]; tail != nil && tail.recording != nil {
		f.over(tail.recording)
	}
	delete(f.tasks, t)
}

// Observe implements orwl.Observer.
func (f *follower) Observe(e orwl.Event) {
	switch e.Kind {
	case orwl.Declared:
		if t := f.of(e.Task); t.recording != nil {
			a := inner.OfAccess(e.Access)
			a.Place().Observe(&watch{tail: t, number: t.count, next: none}, followed)
			t.count++
		}
	case orwl.Began:
		f.of(e.Task).tell(began)
	case orwl.Ended:
		f.of(e.Task).tell(ended)
	case orwl.Forgotten:
		f.forget(e.Task)
	}
}

// followed are the kinds of events that a watch hears.
const followed = queue.AllOrdered &^ (queue.Failed | queue.GrantedFar)

func (t *tail) tell(k kind) {
	if t.recording != nil {
		t.event = event{at: t.clock(), kind: k, task: t.task}
		t.recording.take(nil, &t.event)
	}
}

// watch is the observer of an access. All of it belongs to the task's goroutine, except for
// what Arrived sets.
type watch struct {
	*tail
	number int // of the task's accesses

	fence, version uint64
	holds          bool
	next           time.Duration // when it was renewed, if it is about to be released

	arrived atomic.Int64 // when the bytes came, plus one; 0 if none have
	bytes   atomic.Int64

	turn   Turn // in the making, by the Recording
	summed bool // there was no room for its wait, which is in the sums
}

func (w *watch) tell(k kind, at time.Duration) { w.give(event{at: at, kind: k}) }

func (w *watch) give(e event) {
	e.task, e.fence, e.version = w.task, w.fence, w.version
	w.event = e
	w.recording.take(w, &w.event)
}

// Observe implements queue.Observer. When a pair renews, requested comes just before
// released, and has the same time.
func (w *watch) Observe(e queue.Event) {
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
		w.tell(requested, at)
	case queue.Waiting:
		w.tell(waiting, at)
	case queue.Acquired:
		w.settle()
		w.holds, w.fence, w.version = true, e.Place.Fence(), e.Place.Version()
		w.tell(acquired, at)
	case queue.Releasing:
		w.next = none
		w.tell(releasing, at)
	case queue.Released:
		w.holds, w.next = false, none
		w.tell(released, at)
		w.fence, w.version = 0, 0
	case queue.Withdrawn:
		w.settle()
		w.tell(cancelled, at)
	}
}

// settle tells of the bytes that have come for a request that is over now. No more can come.
func (w *watch) settle() {
	if at := w.arrived.Swap(0); at != 0 {
		w.give(event{at: time.Duration(at - 1), kind: prefetched, bytes: int(w.bytes.Load())})
	}
}
