package resource

import "fmt"

// ErrSuspected is the end of an access, or a request, because its home may have given
// up this node, of which it was not heard for so long. It matches ErrLost. The home may
// as well be there: who requests again is served then.
var ErrSuspected error = suspected{}

type suspected struct{}

func (suspected) Error() string {
	return "resource: home may have given up this node: what this node held or requested there is over: request again"
}

// Is makes it one of the kind of ErrLost.
func (suspected) Is(target error) bool { return target == ErrLost }

// Suspect says that the lease of what a node has lent to this one may be over, and
// why. What places here hold, or have requested, of resources with their home there is
// over, as it is by Away. The node may still be there, and not know. So the mirrors tell
// it that a new life begins, and places may request again at once.
//
// The message of the new life may overtake the bytes of a write that was released. The
// home drops those, and this node reports the write as lost: see [LostWriteError].
func (s *Site) Suspect(n Node, why error) {
	for _, f := range s.mirrorsAt(n) {
		f.mu.Lock()
		f.suspect(why)
		f.unlock()
	}
}

// suspect ends all requests and begins a new life. A mirror without requests holds nothing
// of the home, so its life goes on, and what it has released still arrives.
func (f *mirrored) suspect(why error) {
	if f.away != nil || f.mirror.Over() != nil || len(f.mirror.requests) == 0 {
		return
	}
	// The bytes of the last release may still be under way.
	f.r.lent = f.r.lent || f.mirror.wrote != 0
	f.mirror.Lost(fmt.Errorf("%w: %w", ErrSuspected, why))
	f.early.clear(f.site, f.home)
	f.announce()
}

// announce begins a new life, and tells the home.
func (f *mirrored) announce() {
	if f.rejoin() != nil {
		return
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	s.out = f.mirror.Join(s.out)
	f.send(s)
}

// check ends all requests if the lease of what the home has lent may be over by now.
func (f *mirrored) check() {
	if suspected := f.site.o.Suspected; suspected != nil {
		if why := suspected(f.home); why != nil {
			f.suspect(why)
		}
	}
}

// outlives reports whether a message begins a new life of a mirror that was granted
// something in the last one.
func (h *Home) outlives(m *Message) bool {
	place, known := h.locate(m.Node)
	return known && h.peers[place].incarnation < m.Incarnation && h.lends(m.Node) > 0
}

// lends is how many grants a node's mirror has.
func (h *Home) lends(n Node) (grants uint64) {
	place, known := h.locate(n)
	if !known {
		return 0
	}
	for at := h.peers[place].first; at != noTicket; at = h.tickets[at].next {
		if h.tickets[at].state == ticketTold {
			grants++
		}
	}
	return grants
}

// own gives the resource other memory with the same bytes, if what there is may be
// under way to a node that does not wait for it any more, nor says when it has come.
// It is for whoever has the resource alone and is about to change it.
func (r *Resource) own() {
	if r.lent {
		r.part()
	}
}

func (r *Resource) part() {
	r.lent = false
	if r.pages != nil || r.published() != nil {
		return // it was copied
	}
	// The old memory does not go back to an Allocator: no message says when it may be used
	// again.
	old := r.bytes
	r.bytes = r.newBytes(len(old))
	copy(r.bytes, old)
}
