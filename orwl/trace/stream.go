package trace

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// StreamOptions are what a Stream can be told. The zero value will do.
type StreamOptions struct {
	// Room is how many events of a task wait to be read at most, a power of two: 1024 by
	// default.
	Room int
	// Clock is the time since something; since the stream was made by default.
	Clock func() time.Duration
}

const (
	defaultRoom = 1 << 10
	mostRoom    = 1 << 20
)

func (o StreamOptions) withDefaults() StreamOptions {
	if o.Room == 0 {
		o.Room = defaultRoom
	}
	o.Clock = Options{Clock: o.Clock}.withDefaults().Clock
	return o
}

func (o StreamOptions) validate() error {
	if o.Room < 1 || o.Room > mostRoom || o.Room&(o.Room-1) != 0 {
		return fmt.Errorf("trace: StreamOptions.Room is %d, want a power of two from 1 to %d, or 0 for %d", o.Room, mostRoom, defaultRoom)
	}
	return nil
}

// Stream passes on what the tasks of this node do, as it happens. It is one of a runtime's
// observers. Tasks never wait for a reader. Events that have no room are lost, and counted.
// Without a subscriber it costs a look at a word.
type Stream struct {
	follower
	o           StreamOptions
	subscribers atomic.Int32

	reading sync.Mutex
	rings   []*ring
	all     []*Subscription
	batch   []Event
}

var _ orwl.Observer = (*Stream)(nil)

// NewStream makes a stream for one runtime.
func NewStream(o StreamOptions) (*Stream, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Stream{o: o}
	s.clock = o.Clock
	s.sink = func(*orwl.Task) sink { return s.open() }
	s.over = s.close
	return s, nil
}

// open makes the ring of a task.
func (s *Stream) open() *ring {
	g := &ring{subscribers: &s.subscribers, slots: make([]Event, s.o.Room)}
	s.reading.Lock()
	defer s.reading.Unlock()
	s.rings = append(s.rings, g)
	return g
}

// close drops the ring of a task, once all subscribers have what is in it.
func (s *Stream) close(g sink) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if len(s.all) > 0 {
		s.drain()
	}
	s.rings = slices.DeleteFunc(s.rings, func(other *ring) bool { return other == g })
}

// Subscription is one reader of a stream. It is used by one goroutine at a time.
type Subscription struct {
	stream *Stream
	kept   []Event // guarded by stream.reading
	lost   uint64
	closed bool
}

// Subscribe begins to read: what happens from now on.
func (s *Stream) Subscribe() *Subscription {
	s.reading.Lock()
	defer s.reading.Unlock()
	if len(s.all) == 0 {
		for _, g := range s.rings {
			g.skip() // its events were for another reader
		}
	}
	sub := &Subscription{stream: s}
	s.all = append(s.all, sub)
	s.subscribers.Add(1)
	return sub
}

// Close ends the reading.
func (sub *Subscription) Close() {
	s := sub.stream
	s.reading.Lock()
	defer s.reading.Unlock()
	if sub.closed {
		return
	}
	sub.closed = true
	s.all = slices.DeleteFunc(s.all, func(other *Subscription) bool { return other == sub })
	s.subscribers.Add(-1)
}

// Read appends to dst what has happened since it was last called, in the order of its
// times, and says how many events were lost meanwhile. It does not wait: call it some times
// in a second.
func (sub *Subscription) Read(dst []Event) (events []Event, lost uint64) {
	s := sub.stream
	s.reading.Lock()
	defer s.reading.Unlock()
	s.drain()
	dst = append(dst, sub.kept...)
	lost = sub.lost
	clear(sub.kept)
	sub.kept, sub.lost = sub.kept[:0], 0
	return dst, lost
}

// drain gives all subscribers what is in the rings.
func (s *Stream) drain() {
	s.batch = s.batch[:0]
	lost := uint64(0)
	for _, g := range s.rings {
		var missed uint64
		s.batch, missed = g.drain(s.batch)
		lost += missed
	}
	slices.SortStableFunc(s.batch, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	// A subscriber that never reads keeps no more than all rings together do.
	most := len(s.rings) * s.o.Room
	for _, sub := range s.all {
		room := max(0, most-len(sub.kept))
		sub.kept = append(sub.kept, s.batch[:min(room, len(s.batch))]...)
		sub.lost += lost + uint64(max(0, len(s.batch)-room))
	}
	clear(s.batch)
}

// ring holds a task's events that have not been read: a queue of bounded length from the task
// to the reader. Neither waits for the other.
type ring struct {
	subscribers *atomic.Int32
	slots       []Event
	written     atomic.Uint64 // by the task
	read        atomic.Uint64 // by the reader
	lost        atomic.Uint64 // by the task: there was no room
	told        uint64        // of lost, by the reader
}

func (g *ring) on() bool { return g.subscribers.Load() > 0 }

// take implements sink.
func (g *ring) take(_ *watch, e *Event) {
	n := g.written.Load()
	if n-g.read.Load() == uint64(len(g.slots)) {
		g.lost.Add(1)
		return
	}
	g.slots[n%uint64(len(g.slots))] = *e
	g.written.Store(n + 1)
}

// drain appends what is there to dst, and says how many were lost since the last time.
func (g *ring) drain(dst []Event) (all []Event, lost uint64) {
	n, end := g.read.Load(), g.written.Load()
	for ; n < end; n++ {
		slot := &g.slots[n%uint64(len(g.slots))]
		dst = append(dst, *slot)
		*slot = Event{}
	}
	g.read.Store(n)
	now := g.lost.Load()
	lost, g.told = now-g.told, now
	return dst, lost
}

// skip forgets what is there.
func (g *ring) skip() {
	g.read.Store(g.written.Load())
	g.told = g.lost.Load()
}
