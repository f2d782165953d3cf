package coherence

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// peer is what the home knows of a mirror.
type peer struct {
	node        Node
	incarnation uint64
	lost        bool      // this incarnation
	retention   retention // of a release
	got, sent   uint64    // sequence numbers
	known       uint64    // one more than the version that the mirror has, 0 if none

	guests  register[int] // its requests that are queued or granted
	granted []int         // about to be told
}

// admit finds the mirror that a message is from, if the message is of this life of
// both halves, and the next in its order.
func (h *Home) admit(m *Message, w *Work) (*peer, error) {
	if m.Resource != h.o.Resource {
		return nil, fmt.Errorf("%w: %v of node %d is for resource %d, this is %d", ErrMalformed, m, m.Node, m.Resource, h.o.Resource)
	}
	if m.Epoch != uint64(h.ledger.epoch) {
		h.refuseLife(m.Node, m.Incarnation, AnotherEpoch, w)
		return nil, fmt.Errorf("%w: %v of node %d is for epoch %d, this is %d", ErrOtherLife, m, m.Node, m.Epoch, uint64(h.ledger.epoch))
	}
	at, known := h.locate(m.Node)
	p := (*peer)(nil)
	if known {
		p = h.peers[at]
	}
	switch {
	case h.over == Broken:
		h.refuseLife(m.Node, m.Incarnation, Broken, w)
		return nil, fmt.Errorf("%w: %v of node %d: %w", ErrOtherLife, m, m.Node, ErrBroken)
	case p == nil:
		if err := m.number(0); err != nil {
			return nil, err
		}
		p = &peer{node: m.Node, incarnation: m.Incarnation}
		h.peers = slices.Insert(h.peers, at, p)
	case m.Incarnation < p.incarnation, m.Incarnation == p.incarnation && p.lost:
		invariant.Sometimes(m.Kind == ReleaseMessage, "a release of a life that is over")
		invariant.Sometimes(m.Kind == ReleaseMessage && m.Wrote, "a write of a life that is over")
		h.refuseLife(m.Node, m.Incarnation, Ended, w)
		return nil, fmt.Errorf("%w: %v of node %d is from life %d, which is over", ErrOtherLife, m, m.Node, m.Incarnation)
	case m.Incarnation > p.incarnation:
		if err := m.number(0); err != nil {
			return nil, err
		}
		if h.Holds(m.Node) > 0 {
			invariant.Sometimes(true, "a new life comes while the old one holds")
			h.buffer.Lend() // the bytes of a grant may be under way to the old life
		}
		h.drop(p, w)
		p.incarnation, p.lost, p.got, p.sent = m.Incarnation, false, 0, 0
	default:
		if err := m.number(p.got); err != nil {
			return nil, err
		}
	}
	return p, nil
}

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

// lose ends the life of a node's mirror, unless that is over. First requests of the node
// that have not come will not come.
func (h *Home) lose(n Node, w *Work) *peer {
	for i := range h.reserved {
		if r := &h.reserved[i]; r.Node == n {
			invariant.Sometimes(!r.Used, "a reservation is forgone, since its node is lost")
			r.forgo(w)
		}
	}
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
	h.over = Broken
	h.forgetAll()
	for _, p := range h.peers {
		if !p.lost {
			p.lost = true
			h.refuseLife(p.node, p.incarnation, Broken, w)
		}
	}
}

// Over reports whether the resource is at its end.
func (h *Home) Over() bool { return h.over != 0 }

func (h *Home) forgetAll() {
	for at := range h.guests {
		if h.guests[at].state != unused {
			h.forget(at)
		}
	}
	for _, p := range h.peers {
		h.setRetention(p, noRetention)
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

// locate is where a node's mirror is, or would be, among the peers.
func (h *Home) locate(n Node) (at int, known bool) {
	return slices.BinarySearchFunc(h.peers, n, func(p *peer, n Node) int { return cmp.Compare(p.node, n) })
}

// drop takes all requests of a mirror out of the queue. It cancels those that wait from the
// last to the first, so that the queue grants none of them on the way. Then it releases
// those that hold. The ledger records the losses before any request is granted because of
// them.
func (h *Home) drop(p *peer, w *Work) {
	h.setRetention(p, noRetention)
	all := make([]int, 0, len(p.guests.all))
	for _, e := range p.guests.all {
		all = append(all, e.value)
		if g := &h.guests[e.value]; g.state == told {
			h.ledger.Lose(g.mode)
		}
	}
	if h.ledger.Aborted() {
		h.abort(p, w)
		return
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

// abort ends the resource. It tells every request that waits, except the requests of
// the lost mirror p.
func (h *Home) abort(p *peer, w *Work) {
	if h.over != 0 {
		return
	}
	h.over = Aborted
	waits := make([]int, 0, len(h.guests))
	for at := range h.guests {
		if g := &h.guests[at]; g.state == waiting && g.peer != p {
			waits = append(waits, at)
		}
	}
	slices.SortFunc(waits, func(a, b int) int { return cmp.Compare(h.guests[a].at, h.guests[b].at) })
	for _, at := range waits {
		h.refuse(h.guests[at].peer, h.guests[at].id, Aborted, w)
	}
	h.forgetAll()
	w.Queue = append(w.Queue, Operation{Kind: Break})
}
