package queue

import (
	"context"
	"errors"
	"strings"

	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/locks"
)

// Two ways to look at places and resources from outside: observers hear of events, and Inspect
// shows a state at any time.

// Observer hears what happens to places, and the relaxed accesses of resources. The
// goroutine that does it calls Observe in the middle of its own work. Observe must not
// wait, and must not change what it looks at. Observers are compared, so they are pointers.
type Observer interface {
	// Observe tells of an event.
	Observe(e Event)
}

// Event is something that has happened, or is about to.
type Event struct {
	Kind     Kinds
	Mode     Mode
	Resource *Resource
	// Place is whose request it is. It is nil for a relaxed access.
	Place *Place
	// Relaxed numbers the relaxed accesses of a resource, from 1: all events of one access
	// have its number. It is 0 for a place.
	Relaxed uint64
	Bytes   int   // of Arrived
	Err     error // of Failed and RelaxedFailed
}

// Kinds is a set of kinds of events. Each kind is a set of one.
type Kinds uint16

const (
	// Requested comes after Request and Renew.
	Requested Kinds = 1 << iota
	// Waiting comes once, before Acquire stops its goroutine. If the context ends first, no
	// Acquired follows.
	Waiting
	// Acquired comes after Acquire.
	Acquired
	// Releasing comes before a valid Release or Renew admits another request. So a time
	// taken there lies before any time that the next holder takes.
	Releasing
	// Released comes after Release and Renew.
	Released
	// Withdrawn comes after Cancel.
	Withdrawn
	// Failed comes before Acquire, Release or Renew returns Err, because the access or the
	// resource has ended. Misuse is not told, and the end of a context is not.
	Failed

	// Arrived says how many bytes have come with the grant from the home on another node. It may
	// come at any time between Request and Acquired, even before Requested.
	Arrived
	// GrantedFar says that the grant, its bytes included, has come from the home on another
	// node. It comes before the place is woken.
	GrantedFar

	// RelaxedWaiting comes before the goroutine of a relaxed access waits, once.
	RelaxedWaiting
	// RelaxedAcquired comes when the access begins.
	RelaxedAcquired
	// RelaxedReleased comes when the access has ended.
	RelaxedReleased
	// RelaxedFailed comes instead of RelaxedAcquired, and nothing follows it.
	RelaxedFailed
)

const (
	// AllOrdered are all kinds of events of places. The goroutine that delivers a message
	// tells Arrived and GrantedFar: an observer must not use the place then. All others come
	// from the goroutine that uses the place.
	AllOrdered = Requested | Waiting | Acquired | Releasing | Released | Withdrawn | Failed | Arrived | GrantedFar
	// AllRelaxed are all kinds of events of relaxed accesses.
	AllRelaxed = RelaxedWaiting | RelaxedAcquired | RelaxedReleased | RelaxedFailed
)

var kindsNames = [...]string{
	"requested", "waiting", "acquired", "releasing", "released", "withdrawn", "failed", "arrived", "granted far",
	"relaxed waiting", "relaxed acquired", "relaxed released", "relaxed failed",
}

// String names the kinds in the set.
func (k Kinds) String() string {
	var names []string
	for i, name := range kindsNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// Observe tells o from now on of the events of these kinds that happen to the place. A
// place may have several observers. If o is one of them, these are its kinds instead of
// those before; 0 ends it. Each kind costs time, so o may change its kinds whenever
// something happens to the place. Otherwise call Observe while the place is idle.
func (p *Place) Observe(o Observer, kinds Kinds) { p.extra().hearers.set(o, kinds&AllOrdered) }

// Observe tells o of the relaxed accesses of r, as [Place.Observe] does of a place. Call it
// before the first relaxed access. A resource without relaxed access tells nothing.
func (r *Resource) Observe(o Observer, kinds Kinds) {
	if r.relaxed.Guard != nil {
		r.relaxed.state().hearers.set(o, kinds&AllRelaxed)
	}
}

// hearers are observers and what they hear. If none hears an event, it costs one load.
type hearers struct {
	kinds tally.Count // of all together
	all   []hearer
}

// hearer is an observer. Its kinds are atomic, since the goroutine that delivers a message
// may read them while the place's own goroutine changes them.
type hearer struct {
	Observer
	kinds tally.Count
}

func (h *hearers) set(o Observer, kinds Kinds) {
	found, union := false, Kinds(0)
	for i := range h.all {
		if h.all[i].Observer == o {
			h.all[i].kinds.Set(uint64(kinds))
			found = true
		}
		union |= Kinds(h.all[i].kinds.Own())
	}
	if !found && kinds != 0 {
		h.all = append(h.all, hearer{Observer: o})
		h.all[len(h.all)-1].kinds.Set(uint64(kinds))
		union |= kinds
	}
	h.kinds.Set(uint64(union))
}

func (h *hearers) tell(e Event) {
	for i := range h.all {
		if Kinds(h.all[i].kinds.Load())&e.Kind != 0 {
			h.all[i].Observe(e)
		}
	}
}

// tell tells the observers of an event.
func (p *Place) tell(kind Kinds) {
	if x := p.x; x != nil && Kinds(x.hearers.kinds.Load())&kind != 0 {
		x.hearers.tell(Event{Kind: kind, Mode: p.Mode(), Resource: p.r, Place: p})
	}
}

// Waits tells the observers that the place is going to wait. It is an error if that breaks the leaf
// rule. Acquire calls it. The caller of GrantAll does, too.
func (p *Place) Waits(ctx context.Context) error {
	if err := holderOf(ctx).mayWait(p); err != nil {
		return err
	}
	p.tell(Waiting)
	return nil
}

// arrived tells of bytes that have come for a request.
func (p *Place) arrived(bytes int) {
	if p.x != nil {
		p.x.hearers.tell(Event{Kind: Arrived, Mode: p.Mode(), Resource: p.r, Place: p, Bytes: bytes})
	}
}

// failed is the error of op, which has failed, and tells of it.
func (p *Place) failed(op string, err error) error {
	e := p.error(op, err)
	if p.x != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		p.x.hearers.tell(Event{Kind: Failed, Mode: p.Mode(), Resource: p.r, Place: p, Err: e})
	}
	return e
}

// numberRelaxed is the number of a relaxed access that begins, 0 if there is no observer.
func (r *Resource) numberRelaxed() uint64 {
	s := r.relaxed.made.Load()
	if s == nil || s.hearers.kinds.Load() == 0 {
		return 0
	}
	return s.accesses.Add(1)
}

// tellRelaxed tells of a relaxed access, if it has a number.
func (r *Resource) tellRelaxed(kind Kinds, number uint64, m Mode, err error) {
	if number != 0 {
		r.relaxed.state().hearers.tell(Event{Kind: kind, Mode: m, Resource: r, Relaxed: number, Err: err})
	}
}

// State is a resource at one moment, as this node knows it. [Resource.Inspect] makes it
// without holding the resource. A request that moves meanwhile may show in two states.
type State struct {
	// Size is the number of bytes, Version counts their writes, and Fence is the number of
	// the last granted writer. A mirror knows all three from its last grant.
	Size    int
	Version uint64
	Fence   uint64
	// Broken is why no request is granted any more, or nil.
	Broken error
	// Planned says that a run has the resource for itself: see [Hold].
	Planned bool
	// Elsewhere says that the resource has its home on another node. Readers and Writers
	// are zero then.
	Elsewhere        bool
	Readers, Writers Requests
	// RelaxedWaits is how many relaxed accesses wait for ordered ones. OrderedWaits says
	// that ordered accesses wait for relaxed ones. Elsewhere they are zero.
	RelaxedWaits int
	OrderedWaits bool

	home *home
}

// Requests counts the requests of a mode at the resource's home, requests of other nodes
// included. Through is how many of them have been released or given up. The counts start
// anywhere and wrap around, so only differences count.
type Requests struct{ Made, Through uint32 }

// Inspect looks at the resource at any time, even inside an [Observer]. It takes no lock,
// allocates nothing, and orders nothing.
func (r *Resource) Inspect() State {
	s := State{
		Size: r.buffer.Size(), Planned: r.planned(), Elsewhere: r.mirror != nil, home: r.home,
	}
	s.Version, s.Fence = r.ledger.Seen()
	through := r.completed.Load() // first, so that it is never ahead
	made := r.requested.Load()
	if h := r.run.Load(); h != nil {
		through += h.completed.Load()
		made += h.requested.Load()
	}
	if through&broken != 0 {
		s.Broken = r.brokenError()
	}
	if !s.Elsewhere {
		s.Writers.Made, s.Readers.Made = parts(made)
		s.Writers.Through, s.Readers.Through = parts(through)
	}
	if g := r.guard.Load(); g != nil {
		v := g.word.Load()
		s.RelaxedWaits, s.OrderedWaits = int(v&relaxedMask/oneRelaxed), v&busy != 0
	}
	return s
}

// Guarded is the algorithm of the guard, what its ranks have counted together, and how often each has acquired. The algorithm is
// empty before the first relaxed access.
func (r *Resource) Guarded() (algorithm string, all locks.Counts, acquired []uint64) {
	g := r.guard.Load()
	if g == nil {
		return "", all, nil
	}
	if counts, is := g.locks.Relaxed.(interface {
		Algorithm() string
		Counts() []locks.Counts
	}); is {
		algorithm = counts.Algorithm()
		for _, c := range counts.Counts() {
			all, acquired = all.Add(c), append(acquired, c.Acquired)
		}
	}
	return algorithm, all, acquired
}

// parts are the two counts of a word.
func parts(word uint64) (writers, readers uint32) {
	return uint32(word/oneWriter) & writersMask, uint32(word / oneReader)
}

// Queued is how many requests are in the queue, those that hold included.
func (s State) Queued() int {
	writers := (s.Writers.Made - s.Writers.Through) & writersMask
	readers := s.Readers.Made - s.Readers.Through
	if s.Writers.Made < s.Writers.Through {
		readers-- // the writers' count has begun again, and added a reader
	}
	return int(writers) + int(readers&readersMask)
}

// readersMask is what a word has room for.
const readersMask = 1<<31 - 1

// Guest is a request of another node, in the queue of the resource's home.
type Guest struct {
	Node    Node
	Mode    Mode
	Granted bool
	// Ticket is comparable with the tickets of this node's places: see [PlaceState].
	Ticket uint32
}

// Guests are the requests of other nodes, in no order, if the resource has its home on
// this node. They are as of this call, which locks the home: an Observer must not make it.
func (s State) Guests() []Guest {
	if s.home == nil {
		return nil
	}
	return s.home.seen()
}

// seen are the requests of other nodes.
func (h *home) seen() (guests []Guest) {
	h.mu.Lock()
	defer h.unlock()
	c := h.r.completed.Load()
	for at, g := range h.guests {
		if g == nil {
			continue
		}
		s := g.state.Load()
		node, mode := h.half.Guest(at)
		guests = append(guests, Guest{
			Node: node, Mode: mode, Ticket: ticketOf(s),
			Granted: s&heldBit != 0 || due(c, s&^flags, mode),
		})
	}
	return guests
}

// PlaceState is a place at one moment.
type PlaceState struct {
	Mode      Mode
	Requested bool // and not acquired
	Granted   bool // by the queue; the guard may still be in the way
	Held      bool
	// Ticket numbers the requests of a resource in their order. It starts anywhere and
	// wraps around, so only differences count.
	Ticket uint32
	// Stamp differs after each change of the place's state.
	Stamp uint64
}

// Inspect looks at the place at any time, from any goroutine. The place is one of r's, or
// idle. On a node that is not r's home it locks the mirror.
func (p *Place) Inspect(r *Resource) PlaceState {
	s := p.state.Load()
	l := PlaceState{Mode: modeOf(s), Requested: s&requestedBit != 0, Held: s&heldBit != 0, Ticket: ticketOf(s), Stamp: s}
	if m := r.mirror; m != nil {
		l.Granted = l.Held || l.Requested && m.holds(coherence.ID(s/oneWriter))
	} else {
		l.Granted = l.Held || l.Requested && due(r.completed.Load(), s&^flags, l.Mode)
	}
	return l
}

// ticketOf is the number of requests before the one with this state.
func ticketOf(s uint64) uint32 { return uint32(s/oneWriter)&writersMask + uint32(s/oneReader) }
