package resource

import "github.com/orwl/go-orwl/resource/internal/coherence"

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
	// Elsewhere says that the resource has its home on another node. Readers and Writers
	// are zero then.
	Elsewhere        bool
	Readers, Writers Requests
	// RelaxedWaits is how many relaxed accesses wait for ordered ones. OrderedWaits says
	// that ordered accesses wait for relaxed ones. Both count what the home knows: relaxed
	// accesses of all nodes with a [Reach], otherwise of this node. Elsewhere they are zero.
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
		Size: r.buffer.Size(), Elsewhere: r.mirror != nil, home: r.home,
	}
	s.Version, s.Fence = r.ledger.Seen()
	through := r.completed.Load() // first, so that it is never ahead
	made := r.requested.Load()
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
	// Early says that the home has reserved the ticket, and that the request has not come.
	Early bool
}

// Guests are the requests of other nodes, in no order, if the resource has its home on
// this node. They are as of this call, which locks the home: an Observer must not make it.
func (s State) Guests() []Guest {
	if s.home == nil {
		return nil
	}
	return s.home.seen()
}

// seen are the requests of other nodes, and the reservations that they have not used.
func (h *home) seen() (guests []Guest) {
	h.mu.Lock()
	defer h.unlock()
	c := h.r.completed.Load()
	for _, r := range h.half.Reserved() {
		if !r.Used && r.Node != h.site.o.Node {
			guests = append(guests, Guest{
				Node: r.Node, Mode: r.Mode, Ticket: ticketOf(r.Ticket), Early: true, Granted: due(c, r.Ticket&^flags, r.Mode),
			})
		}
	}
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
