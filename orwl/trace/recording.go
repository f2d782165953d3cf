package trace

import (
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// The names of slices of a task. Slices of regions have the regions' names.
const (
	Compute = "compute"
	Wait    = "wait"
	Release = "release"
)

// short is less than what a slice without a name has to last to be one.
const short = time.Microsecond

// releaseName is the number of the name Release.
const releaseName = 0

// none is a time that has not come.
const none = time.Duration(-1)

// Recording records a task. It belongs to the task's goroutine, and before that to the
// goroutine that starts the program. A nil one records nothing.
type Recording struct {
	track  Track // without the slices and turns
	slices pile[span]
	turns  pile[Turn]
	names  []string // of slices

	room   func() int
	most   int // slices, and turns; 0 until the task begins
	full   bool
	region string                           // the region that the task is in, "" if it is at no work
	named  bool                             // the program has named the region
	since  time.Duration                    // when the present slice began; none in a wait or a release
	last   struct{ from, to time.Duration } // the last wait, until LastWait takes it

	waitEnd time.Duration // of the last wait
}

// span is a Slice without a pointer, so that the garbage collector has nothing to look
// for in it.
type span struct {
	name     int // of Recording.names
	from, to time.Duration
}

// name is the number of a name. A task has few.
func (r *Recording) name(name string) int {
	n := slices.Index(r.names, name)
	if n < 0 {
		n = len(r.names)
		r.names = append(r.names, name)
	}
	return n
}

// asTrack is what was recorded.
func (r *Recording) asTrack() Track {
	t := r.track
	t.Turns = r.turns.all()
	for _, s := range r.slices.all() {
		t.Slices = append(t.Slices, Slice{r.names[s.name], s.from, s.to})
	}
	return t
}

// Region says what the task does from now on, in between of its accesses: slices are
// called so. With "" it does nothing, as before it begins and when it has ended. Names
// should be few: each is a column in a report.
func (r *Recording) Region(name string, at time.Duration) {
	if r == nil {
		return
	}
	r.cut(at)
	r.region, r.named, r.since = name, true, at
}

// LastWait is from when to when the task has waited since it was last asked, if it has.
func (r *Recording) LastWait() (from, to time.Duration, waited bool) {
	if r == nil {
		return 0, 0, false
	}
	from, to = r.last.from, r.last.to
	r.last.from, r.last.to = none, none
	return from, to, from != none
}

func newRecording(t *orwl.Task, room func() int) *Recording {
	r := &Recording{room: room, since: none, track: Track{Task: t.Name(), Node: t.Node(), Began: none, Ended: none}}
	for _, a := range inner.OfTask(t).Accesses() {
		r.track.Accesses = append(r.track.Accesses, Access{Resource: a.Resource().Name(), Write: a.Mode() == resource.Write})
	}
	r.last.from, r.waitEnd = none, none
	r.names = []string{releaseName: Release}
	return r
}

// take gets the events of the task, one after the other. It must not keep them.
func (r *Recording) take(w *watch, e *event) {
	switch e.kind {
	case began:
		r.most, r.track.Began, r.track.Node = r.room(), e.at, e.task.Node()
		if !r.named {
			r.region, r.since = Compute, e.at
		}
	case ended:
		r.cut(e.at)
		r.region, r.since, r.track.Ended = "", e.at, e.at
	case requested:
		if !w.holds {
			w.turn = Turn{Access: w.number, Requested: e.at, Here: none, Asked: none, Acquired: none, Released: none}
		}
	case prefetched:
		// They may come before requested.
		w.turn.Here, w.turn.Bytes = max(e.at, w.turn.Requested), e.bytes
	case waiting:
		r.cut(e.at)
		if r.since = none; w.turn.Asked == none { // otherwise it has given up and asks again
			w.turn.Asked = e.at
		}
	case acquired:
		w.turn.Acquired, w.turn.Fence, w.turn.Version = e.at, e.fence, e.version
		if w.turn.Asked != none {
			r.waited(w, e.at)
		}
	case releasing:
		r.cut(e.at)
		w.turn.Released, r.since = e.at, none
	case released:
		r.released(w, e.at)
	case cancelled:
		if w.turn.Asked != none {
			r.waited(w, e.at)
		}
		w.turn.Released = e.at
		r.keep(w)
	}
}

// waited ends a wait.
func (r *Recording) waited(w *watch, at time.Duration) {
	from := w.turn.Asked
	if w.summed = r.full; r.full {
		r.rest(Wait, from, at)
	}
	r.last.from, r.last.to, r.since, r.waitEnd = from, at, at, at
}

// released ends a release; several in a row are one slice. The next turn has begun
// already if the access was renewed.
func (r *Recording) released(w *watch, at time.Duration) {
	from := w.turn.Released
	if s := r.slices.last(); s != nil && !r.full && s.name == releaseName && from-s.to < short && r.waitEnd <= s.to {
		r.track.Handling -= from - s.to // it was taken for that
		s.to = at
	} else {
		r.add(Release, from, at)
	}
	r.since = at
	r.keep(w)
	w.turn = Turn{Access: w.number, Requested: at, Here: none, Asked: none, Acquired: none, Released: none}
}

// cut ends the slice in which the task is, if it is in one.
func (r *Recording) cut(at time.Duration) {
	switch {
	case r.since == none || r.region == "" || at <= r.since:
	case !r.named && at-r.since < short:
		r.track.Handling += at - r.since
	default:
		r.add(r.region, r.since, at)
	}
}

func (r *Recording) add(name string, from, to time.Duration) {
	if r.full || r.slices.n >= r.most {
		r.rest(name, from, to)
		return
	}
	r.slices.add(span{r.name(name), from, to})
}

// keep keeps a turn that has ended.
func (r *Recording) keep(w *watch) {
	if !r.full && r.turns.n < r.most {
		r.turns.add(w.turn)
		return
	}
	if from, to, waited := w.turn.Waited(); waited && !w.summed {
		r.rest(Wait, from, to)
	}
	r.full, w.summed = true, false
	r.track.Rest.Turns++
}

// rest adds up what there is no room for, and from now on there is none for anything:
// what is there comes before all that is not.
func (r *Recording) rest(name string, from, to time.Duration) {
	s := &r.track.Rest
	if s.Sums == nil {
		s.Sums, s.From = make(map[string]time.Duration), from
		if last := r.slices.last(); last != nil {
			s.From = max(from, last.to) // the wait of a turn may have begun before
		}
	}
	r.full = true
	s.Sums[name] += to - from
	s.Slices++
	s.To = max(to, s.To)
}

// pile is a list that grows without being copied. So each record takes about as long as the
// ones before.
type pile[T any] struct {
	done [][]T
	now  []T
	n    int
}

// The first step by which a pile grows, and the largest.
const (
	leastHeap = 1 << 6
	mostHeap  = 1 << 12
)

func (p *pile[T]) add(v T) {
	if len(p.now) == cap(p.now) {
		if p.now != nil {
			p.done = append(p.done, p.now)
		}
		p.now = make([]T, 0, min(max(2*cap(p.now), leastHeap), mostHeap))
	}
	p.now = append(p.now, v)
	p.n++
}

// last is what was added last, or nil.
func (p *pile[T]) last() *T {
	if p.n == 0 {
		return nil
	}
	return &p.now[len(p.now)-1]
}

// all is a copy of all; nil if there is nothing.
func (p *pile[T]) all() []T { return slices.Concat(append(slices.Clone(p.done), p.now)...) }

// Trace is what the tasks of all nodes did, by one clock.
type Trace struct {
	Clocks   []Clock       // of the nodes
	Tracks   []Track       // of the tasks, node by node
	From, To time.Duration // of the run
}

// Clock says how a node's times became times of node 0.
type Clock struct {
	Node int
	// Offset was added to the node's times. Shared says that node 0 has the same clock.
	// Otherwise Offset is wrong by at most Error: see the package's description.
	Offset, Error time.Duration
	Shared        bool
}

// Track is what a task did.
type Track struct {
	Task     string
	Node     int
	Began    time.Duration // -1 if it has not
	Ended    time.Duration // -1 if it has not
	Accesses []Access      // in the order of their declarations
	// Slices are what it did, in order, without waits. A wait is in the turn that it was
	// for.
	Slices []Slice
	Turns  []Turn // in the order in which they ended
	// Handling is the time of the shortest slices without a name. Slices leaves them out.
	Handling time.Duration
	Rest     Rest
}

// Access is what a task does with a resource, turn by turn.
type Access struct {
	Resource string
	Write    bool
}

// Slice is what a task did for a while.
type Slice struct {
	Name     string
	From, To time.Duration
}

// Turn is one use of an access. A time that has not come is -1.
type Turn struct {
	Access    int
	Requested time.Duration
	Here      time.Duration // when its bytes had come from another node
	Asked     time.Duration // when its task began to wait
	Acquired  time.Duration // -1 if it was cancelled
	Released  time.Duration // or cancelled
	Fence     uint64
	Version   uint64
	Bytes     int // the bytes that came from another node
}

// Rest is what a track has no room for.
type Rest struct {
	Slices, Turns int
	From, To      time.Duration
	Sums          map[string]time.Duration // by the names of slices
}

// delay moves everything to a time that much later.
func (k *Track) delay(by time.Duration) {
	later := func(all ...*time.Duration) {
		for _, at := range all {
			if *at != none {
				*at += by
			}
		}
	}
	later(&k.Began, &k.Ended, &k.Rest.From, &k.Rest.To)
	for i := range k.Slices {
		later(&k.Slices[i].From, &k.Slices[i].To)
	}
	for i := range k.Turns {
		u := &k.Turns[i]
		later(&u.Requested, &u.Here, &u.Asked, &u.Acquired, &u.Released)
	}
}

// Waited is for how long its task waited, and from when.
func (u *Turn) Waited() (from, to time.Duration, waited bool) {
	switch {
	case u.Asked == none:
		return 0, 0, false
	case u.Acquired == none:
		return u.Asked, u.Released, true
	}
	return u.Asked, u.Acquired, true
}

// Sums is for how long the task did what, by the names of slices.
func (k *Track) Sums() map[string]time.Duration {
	sums := make(map[string]time.Duration)
	for _, s := range k.Slices {
		sums[s.Name] += s.To - s.From
	}
	for i := range k.Turns {
		if from, to, waited := k.Turns[i].Waited(); waited {
			sums[Wait] += to - from
		}
	}
	for name, sum := range k.Rest.Sums {
		sums[name] += sum
	}
	return sums
}

// span is from when to when tracks have anything.
func (t *Trace) span() (from, to time.Duration) {
	first := true
	see := func(at time.Duration) {
		if at == none {
			return
		}
		if first {
			from, to, first = at, at, false
		}
		from, to = min(from, at), max(to, at)
	}
	for i := range t.Tracks {
		k := &t.Tracks[i]
		see(k.Began)
		see(k.Ended)
		for _, s := range k.Slices {
			see(s.From)
			see(s.To)
		}
		for _, u := range k.Turns {
			see(u.Released)
		}
		if k.Rest.Slices > 0 {
			see(k.Rest.To)
		}
	}
	return from, to
}
