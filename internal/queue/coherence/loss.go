package coherence

import (
	"cmp"
	"slices"
)

// When the node of a mirror is lost, or its resource is broken, the requests of the mirror leave
// the queue, and its grants end.

// Lost says that a node is lost. Its requests leave the queue, its grants are released,
// and the bytes that it was writing are discarded. A node that is alive after all is
// told to begin a new life, now and after each late message of this life.
func (h *Home) Lost(n Node, w *Work) {
	if p := h.lose(n, w); p != nil {
		h.refuseLife(n, p.incarnation, Ended, w)
	}
}

// Back says that a node, which may have been lost, has begun a new life, and knows that
// its old requests and grants are over.
func (h *Home) Back(n Node, w *Work) { h.lose(n, w) }

// lose ends the life of a node's mirror, unless that is over.
func (h *Home) lose(n Node, w *Work) *peer {
	at, known := h.locate(n)
	if !known || h.peers[at].lost {
		return nil
	}
	p := h.peers[at]
	h.drop(p, w)
	p.lost = true
	return p
}

// Broken ends the resource: every mirror is told, and none gets another grant. The caller
// forgets all guests.
func (h *Home) Broken(w *Work) {
	h.over = true
	h.forgetAll()
	for _, p := range h.peers {
		if !p.lost {
			p.lost = true
			h.refuseLife(p.node, p.incarnation, Broken, w)
		}
	}
}

// Over reports whether the resource is at its end.
func (h *Home) Over() bool { return h.over }

func (h *Home) forgetAll() {
	for at := range h.guests {
		if h.guests[at].state != unused {
			h.forget(at)
		}
	}
}

// Holds is how many grants a node's mirror has.
func (h *Home) Holds(n Node) (grants uint64) {
	at, known := h.locate(n)
	if !known {
		return 0
	}
	for _, e := range h.peers[at].guests.all {
		if h.guests[e.value].state == told {
			grants++
		}
	}
	return grants
}

// drop takes all requests of a mirror out of the queue. It cancels those that wait from the
// last to the first, so that the queue grants none of them on the way. Then it releases
// those that hold. The ledger records the losses before any request is granted because of
// them.
func (h *Home) drop(p *peer, w *Work) {
	all := make([]int, 0, len(p.guests.all))
	for _, e := range p.guests.all {
		all = append(all, e.value)
		if g := &h.guests[e.value]; g.state == told {
			h.ledger.Lose(g.mode)
		}
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(h.guests[b].at, h.guests[a].at) })
	for _, at := range all {
		if g := &h.guests[at]; g.state == waiting {
			p.guests.remove(g.id)
			g.state = orphaned
			w.Queue = append(w.Queue, Operation{Kind: Cancel, Guest: at})
		}
	}
	cancels := len(w.Queue)
	for _, at := range all {
		if h.guests[at].state == told {
			h.forget(at)
			w.Queue = append(w.Queue, Operation{Kind: Release, Guest: at})
		}
	}
	slices.Reverse(w.Queue[cancels:]) // in the order in which they came
}
