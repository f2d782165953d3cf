package trace

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// sink is who gets the events of one task, one after the other. They are not to be kept.
type sink interface {
	take(w *watch, e *Event)
	// on reports whether anybody wants them.
	on() bool
}

// follower makes events of what the places of all tasks do.
type follower struct {
	clock func() time.Duration
	sink  func(t *orwl.Task) sink // made once for each task; nil: it is not followed

	mu    sync.Mutex
	tasks map[*orwl.Task]*tail
}

// tail is what is kept of a task that is followed. It belongs to the task's goroutine,
// and before that to whoever starts it.
type tail struct {
	task  *orwl.Task
	clock func() time.Duration
	sink  sink
	event Event // so that none has to be allocated
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

// Access implements orwl.Observer.
func (f *follower) Access(a *orwl.Access) resource.Observer {
	t := f.of(a.Task())
	if t.sink == nil {
		return nil
	}
	w := &watch{tail: t, access: a, number: t.count, next: none}
	t.count++
	return w
}

// Began implements orwl.Observer.
func (f *follower) Began(t *orwl.Task) { f.of(t).tell(Began, nil) }

// Ended implements orwl.Observer.
func (f *follower) Ended(t *orwl.Task, err error) { f.of(t).tell(Ended, err) }

func (t *tail) tell(k Kind, err error) {
	if t.sink != nil && t.sink.on() {
		t.event = Event{At: t.clock(), Kind: k, Task: t.task, Err: err}
		t.sink.take(nil, &t.event)
	}
}

// watch is the observer of an access. But for Arrived, all of it belongs to the task's
// goroutine.
type watch struct {
	*tail
	access *orwl.Access
	number int // of the task's accesses

	fence, version uint64
	holds          bool
	next           time.Duration // when it was renewed, if it is about to be released

	arrived atomic.Int64 // when the bytes came, plus one; 0 if none have
	bytes   atomic.Int64

	turn   Turn // in the making, by who records
	summed bool // its wait is, there being no room for it
}

var (
	_ resource.Releaser = (*watch)(nil)
	_ resource.Arrivals = (*watch)(nil)
)

func (w *watch) tell(k Kind, at time.Duration) { w.give(Event{At: at, Kind: k}) }

func (w *watch) give(e Event) {
	e.Task, e.Access, e.Fence, e.Version = w.task, w.access, w.fence, w.version
	w.event = e
	w.sink.take(w, &w.event)
}

// Requested implements resource.Observer. Of a pair that renews it comes just before
// Released, and has the same time.
func (w *watch) Requested(*resource.Place) {
	if !w.sink.on() {
		return
	}
	at := w.clock()
	if w.holds {
		w.next = at
	}
	w.tell(Requested, at)
}

// Waiting implements resource.Observer.
func (w *watch) Waiting(*resource.Place) {
	if w.sink.on() {
		w.tell(Waiting, w.clock())
	}
}

// Acquired implements resource.Observer.
func (w *watch) Acquired(p *resource.Place) {
	if !w.sink.on() {
		return
	}
	at := w.clock()
	w.settle()
	w.holds, w.fence, w.version = true, p.Fence(), p.Version()
	w.tell(Acquired, at)
}

// Releasing implements resource.Releaser.
func (w *watch) Releasing(*resource.Place) {
	if w.sink.on() {
		w.next = none
		w.tell(Releasing, w.clock())
	}
}

// Released implements resource.Observer.
func (w *watch) Released(*resource.Place) {
	if !w.sink.on() {
		return
	}
	at := w.next
	if at == none {
		at = w.clock()
	}
	w.holds, w.next = false, none
	w.tell(Released, at)
	w.fence, w.version = 0, 0
}

// Cancelled implements resource.Observer.
func (w *watch) Cancelled(*resource.Place) {
	if w.sink.on() {
		w.settle()
		w.tell(Cancelled, w.clock())
	}
}

// Arrived implements resource.Arrivals.
func (w *watch) Arrived(_ *resource.Place, bytes int) {
	if w.sink.on() {
		w.arrived.CompareAndSwap(0, int64(w.clock())+1)
		w.bytes.Store(int64(bytes))
	}
}

// settle tells of the bytes that have come for a request that is over now. Nobody brings
// any more.
func (w *watch) settle() {
	if at := w.arrived.Swap(0); at != 0 {
		w.give(Event{At: time.Duration(at - 1), Kind: Prefetched, Bytes: int(w.bytes.Load())})
	}
}
