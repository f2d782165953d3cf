package trace

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// Options are what a Recorder can be told. The zero value will do.
type Options struct {
	// Slices is how many slices are kept on a node, and how many turns of accesses, all
	// tasks together: 262,144 by default, more than which no viewer shows in a reasonable
	// time. Each task has as much room as the next: for its first ones. All tasks of phases
	// that have ended have that room together, and the later ones of them are dropped.
	Slices int
	// Clock is the time since something; since the recorder was made by default.
	Clock func() time.Duration
	// Tasks are those that are recorded: all by default.
	Tasks func(*orwl.Task) bool
}

const defaultSlices = 1 << 18

func (o Options) withDefaults() Options {
	if o.Slices == 0 {
		o.Slices = defaultSlices
	}
	if o.Clock == nil {
		born := time.Now()
		o.Clock = func() time.Duration { return time.Since(born) }
	}
	return o
}

const mostSlices = 1 << 28

func (o Options) validate() error {
	if o.Slices < 1 || o.Slices > mostSlices {
		return fmt.Errorf("trace: Options.Slices is %d, want 1 to %d, or 0 for %d", o.Slices, mostSlices, defaultSlices)
	}
	return nil
}

// Recorder records what the tasks of this node do: it is one of its runtime's observers.
type Recorder struct {
	follower
	o    Options
	room func() int
	from time.Duration // of the run, if to is not 0
	to   time.Duration

	// The follower's mu guards these.
	past  []*Recording // of tasks of phases that have ended
	spent int          // slices and turns of them
}

var _ orwl.Observer = (*Recorder)(nil)

// NewRecorder makes a recorder for one runtime.
func NewRecorder(o Options) (*Recorder, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	r := &Recorder{o: o}
	// By the time the first task begins, all that access something have been seen.
	r.room = sync.OnceValue(func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return max(1, o.Slices/max(1, len(r.tasks)))
	})
	r.clock = o.Clock
	r.sink = func(t *orwl.Task) sink {
		if o.Tasks != nil && !o.Tasks(t) {
			return nil
		}
		return newRecording(t, r.room)
	}
	r.over = func(s sink) { r.keep(s.(*Recording)) }
	return r, nil
}

// keep keeps what was recorded of a task of a phase that has ended, if there is room for it.
func (r *Recorder) keep(recording *Recording) {
	if size := recording.slices.n + recording.turns.n + 1; r.spent+size <= r.o.Slices {
		r.spent += size
		r.past = append(r.past, recording)
	}
}

// Recording is what is recorded of a task of this node; nil if it is not recorded. It may
// be asked for when the task's accesses have been declared.
func (r *Recorder) Recording(t *orwl.Task) *Recording {
	recording, _ := r.of(t).sink.(*Recording)
	return recording
}

// Span says from when to when the run lasted on this node, in place of from the first
// event to the last: what is recorded at its very end may come later.
func (r *Recorder) Span(from, to time.Duration) { r.from, r.to = from, to }

// Now is the time by the recorder's clock.
func (r *Recorder) Now() time.Duration { return r.o.Clock() }

// Trace is what was recorded on this node, by its own clock. The run must have ended.
func (r *Recorder) Trace() *Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := new(Trace)
	for _, recording := range r.past {
		t.Tracks = append(t.Tracks, recording.asTrack())
	}
	for _, tail := range r.tasks {
		if recording, is := tail.sink.(*Recording); is {
			t.Tracks = append(t.Tracks, recording.asTrack())
		}
	}
	slices.SortFunc(t.Tracks, byName)
	if len(t.Tracks) > 0 {
		t.Clocks = []Clock{{Node: t.Tracks[0].Node, Shared: true}}
	}
	t.From, t.To = t.span()
	if r.to != 0 {
		t.From, t.To = r.from, r.to
	}
	return t
}

// byName orders tracks by node and then by name, in which 10 comes after 9.
func byName(a, b Track) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), natural(a.Task, b.Task))
}

// natural compares names, numbers in them as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == 0 || y == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		if c := cmp.Or(cmp.Compare(x, y), cmp.Compare(a[:x], b[:y])); c != 0 {
			return c
		}
		a, b = a[x:], b[y:]
	}
	return cmp.Compare(a, b)
}

// digits is how many of them s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

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

// sink takes the events of a task, one after the other. It must not keep them. A Recording is one.
type sink interface {
	take(w *watch, e *event) // w is nil if the event is of the task, and not of an access
}

// follower makes events of what the places of all tasks do.
type follower struct {
	clock func() time.Duration
	sink  func(t *orwl.Task) sink // made once for each task; nil: it is not followed
	over  func(sink)              // if not nil, gets the sink of a task that is forgotten; mu is held

	mu    sync.Mutex
	tasks map[*orwl.Task]*tail
}

// tail belongs to a task that is followed. The task's goroutine uses it, and before that the
// goroutine that starts the task.
type tail struct {
	task  *orwl.Task
	clock func() time.Duration
	sink  sink  // nil: the task is not followed
	event event // kept here so that none has to be allocated
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

// forget drops the tail of a task, and gives its sink back.
func (f *follower) forget(t *orwl.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if tail := f.tasks[t]; tail != nil && tail.sink != nil && f.over != nil {
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
	if t.sink != nil {
		t.event = event{at: t.clock(), kind: k, task: t.task}
		t.sink.take(nil, &t.event)
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
	w.sink.take(w, &w.event)
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
