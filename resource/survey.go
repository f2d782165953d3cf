package resource

import "sync/atomic"

// Survey is a resource as an onlooker sees it at any time, without holding it. What moves
// meanwhile may show in two states.
type Survey struct {
	// Size is how many bytes there are, Version how often they have been written, and
	// Fence the number of the last writer's grant, all as far as this node knows: of a
	// mirror it is what came with the last grant.
	Size    int
	Version uint64
	Fence   uint64
	Broken  bool // nobody is granted any more
	// Knocking is how many relaxed accesses wait for ordered ones, and OrderedWaits that
	// ordered accesses wait for relaxed ones. Both are of this node's door.
	Knocking     int
	OrderedWaits bool
	// Guests are the requests of other nodes, in no order, if the resource has its home
	// here.
	Guests []Guest
}

// Guest is a request of another node, in the queue of the resource's home.
type Guest struct {
	Node    Node
	Mode    Mode
	Granted bool
	// Ticket is comparable with those of this node's places; see Look.
	Ticket uint32
	// Early says that it is kept until the first requests of all nodes are here.
	Early bool
}

// Survey looks at the resource. It waits for nobody who holds it.
func (r *Resource) Survey() Survey {
	s := Survey{
		Size:    int(r.size.Load()),
		Version: atomic.LoadUint64(&r.ledger.version),
		Fence:   atomic.LoadUint64(&r.ledger.fence),
		Broken:  r.completed.Load()&broken != 0,
	}
	if g := r.guard.Load(); g != nil {
		v := g.word.Load()
		s.Knocking, s.OrderedWaits = int(v&knockMask/oneKnock), v&busy != 0
	}
	if f := r.mirrored; f != nil {
		s.Fence = f.newest()
	} else if r.home != nil {
		s.Guests = r.home.survey()
	}
	return s
}

// newest is the greatest fence of what is granted to this node.
func (f *mirrored) newest() (fence uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.mirror.requests {
		fence = max(fence, r.fence)
	}
	return fence
}

// survey are the requests of other nodes.
func (h *homed) survey() (guests []Guest) {
	h.mu.Lock()
	defer h.unlock()
	if h.gather != nil {
		for _, f := range h.gather.requests {
			if f.place == nil {
				guests = append(guests, Guest{Node: h.home.guest(f.id), Mode: f.mode, Ticket: uint32(f.order), Early: true})
			}
		}
		return guests
	}
	c := h.r.completed.Load()
	for _, g := range h.places {
		if g == nil {
			continue
		}
		s := g.state.Load()
		m := modeOf(s)
		guests = append(guests, Guest{
			Node: h.home.guest(g.id), Mode: m, Ticket: ticketOf(s),
			Granted: s&heldBit != 0 || due(c, s&^flags, m),
		})
	}
	return guests
}

// guest is whose request it is that the home has given an ID.
func (h *Home) guest(id ID) Node { return h.tickets[int(id&^fromMirrors)].peer.node }
