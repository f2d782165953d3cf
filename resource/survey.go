package resource

// Survey is a resource as seen from outside at any time, without holding it. It is no
// snapshot: a request that moves meanwhile may show in two states.
type Survey struct {
	// Size is the number of bytes, Version counts their writes, and Fence is the number
	// of the last writer's grant. All are as far as this node knows: a mirror knows
	// what came with its last grant.
	Size    int
	Version uint64
	Fence   uint64
	Broken  bool // no request is granted any more
	// Knocking is how many relaxed accesses wait for ordered ones. OrderedWaits says
	// that ordered accesses wait for relaxed ones. Both count what the home knows: relaxed
	// accesses of all nodes with a [Reach], otherwise of this node. Elsewhere they are zero.
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
	// Ticket is comparable with the tickets of this node's places; see Look.
	Ticket uint32
	// Early says that the home keeps the request until it has the first requests of all
	// nodes.
	Early bool
}

// Survey looks at the resource. It never waits for a holder.
func (r *Resource) Survey() Survey {
	s := Survey{
		Size:    int(r.size.Load()),
		Version: r.ledger.version.Load(),
		Fence:   r.ledger.fence.Load(),
		Broken:  r.completed.Load()&broken != 0,
	}
	if g := r.guard.Load(); g != nil {
		v := g.word.Load()
		s.Knocking, s.OrderedWaits = int(v&relaxedMask/oneRelaxed), v&busy != 0
	}
	if f := r.mirrored; f != nil {
		s.Fence = f.newest()
	} else if r.home != nil {
		s.Guests = r.home.survey()
	}
	return s
}

// newest is the greatest fence of the grants of this node.
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

// guest is the node of the request that the home knows by an ID.
func (h *Home) guest(id ID) Node { return h.tickets[int(id&^fromMirrors)].peer.node }

// Tally counts the requests of a resource at its home, requests of other nodes
// included, and how many of them are through: released or given up. The counts wrap
// around, like [Look.Ticket], so only differences count.
type Tally struct {
	Readers, Writers struct{ Requested, Through uint32 }
}

// Tally looks at the queue, at any time, and orders nothing. A mirror has no counts.
func (r *Resource) Tally() Tally {
	var t Tally
	through := r.completed.Load() // first, so that it is never ahead
	requested := r.requested.Load()
	t.Writers.Requested, t.Readers.Requested = parts(requested)
	t.Writers.Through, t.Readers.Through = parts(through)
	return t
}

// parts are the two counts of a word.
func parts(word uint64) (writers, readers uint32) {
	return uint32(word/oneWriter) & writersMask, uint32(word / oneReader)
}

// Queued is how many are in the queue, those that hold included.
func (t Tally) Queued() int {
	writers := (t.Writers.Requested - t.Writers.Through) & writersMask
	readers := t.Readers.Requested - t.Readers.Through
	if t.Writers.Requested < t.Writers.Through {
		readers-- // the writers' count has begun again, and added a reader
	}
	return int(writers) + int(readers&readersMask)
}

// readersMask is what a word has room for.
const readersMask = 1<<31 - 1

// Elsewhere reports whether the resource has its home on another node.
func (r *Resource) Elsewhere() bool { return r.mirrored != nil }

// Broken is why the resource is broken, nil if it is not.
func (r *Resource) Broken() error {
	if r.completed.Load()&broken == 0 {
		return nil
	}
	return r.brokenError()
}
