package coherence

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// Home is the home's half of the protocol. It gives mirrors' requests to the queue in the
// order in which their messages arrive, and grants to the mirrors.
//
//	mirror ──Request──▶ Home ──Enqueue──▶ queue ◀── the requests of the home's own node
//	mirror ◀───Grant─── Home ◀──Granted── queue
//
// A mirror's request is a guest in the queue. One goroutine at a time uses a Home.
type Home struct {
	buffer *Buffer
	ledger *Ledger
	o      HomeOptions

	over    bool    // the resource is broken
	peers   []*peer // by node
	guests  []guest
	free    int    // the first free guest; these are linked by next
	arrived uint64 // guests so far
}

// HomeOptions describe a home.
type HomeOptions struct {
	// Resource is in all messages.
	Resource uint64
	// Limit is the greatest size in bytes.
	Limit int
}

// NewHome makes a home that has taken no message yet.
func NewHome(buffer *Buffer, ledger *Ledger, o HomeOptions) *Home {
	return &Home{buffer: buffer, ledger: ledger, o: o, free: none}
}

// peer is what the home knows of a mirror.
type peer struct {
	node        Node
	incarnation uint64
	lost        bool   // this incarnation
	got, sent   uint64 // sequence numbers
	known       uint64 // one more than the version that the mirror has, 0 if none

	guests  register[int] // its requests that are queued or granted
	granted []int         // about to be told
}

// Step takes a mirror's message. An error is one of ErrReplayed, ErrOtherLife, ErrGap and
// ErrMalformed. Each says what to do.
func (h *Home) Step(m *Message, w *Work) error {
	p, err := h.admit(m, w)
	if err != nil {
		return err
	}
	switch m.Kind {
	case RequestMessage:
		err = h.request(p, m, w)
	case RenewMessage, ReleaseMessage:
		err = h.release(p, m, w)
	case CancelMessage:
		err = h.cancel(p, m, w)
	case JoinMessage:
		p.known = m.Known
	case ConfirmMessage:
		h.to(p, ConfirmedMessage, w).Fence = m.Fence
	default:
		err = fmt.Errorf("%w: %v of node %d: the home does not take it", ErrMalformed, m, m.Node)
	}
	if err == nil {
		p.got = m.Seq
	}
	return err
}

// admit finds the mirror that a message is from, if the message is of this life of the
// mirror, and the next in its order.
func (h *Home) admit(m *Message, w *Work) (*peer, error) {
	if m.Resource != h.o.Resource {
		return nil, fmt.Errorf("%w: %v of node %d is for resource %d, this is %d", ErrMalformed, m, m.Node, m.Resource, h.o.Resource)
	}
	at, known := h.locate(m.Node)
	p := (*peer)(nil)
	if known {
		p = h.peers[at]
	}
	switch {
	case h.over:
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

// locate is where a node's mirror is, or would be, among the peers.
func (h *Home) locate(n Node) (at int, known bool) {
	return slices.BinarySearchFunc(h.peers, n, func(p *peer, n Node) int { return cmp.Compare(p.node, n) })
}

// Granted takes guests that the queue has granted, in their order.
func (h *Home) Granted(guests []int, w *Work) {
	for _, at := range guests {
		switch g := &h.guests[at]; g.state {
		case orphaned:
			invariant.Sometimes(true, "an orphaned guest is granted")
			h.forget(at)
			w.Queue = append(w.Queue, Operation{Kind: Release, Guest: at})
		case waiting:
			g.state = told
			g.peer.granted = append(g.peer.granted, at)
		}
	}
	for _, p := range h.peers {
		invariant.Sometimes(len(p.granted) > mostGranted, "a grant takes two messages")
		for some := range slices.Chunk(p.granted, mostGranted) {
			h.grant(p, some, w)
		}
		p.granted = p.granted[:0]
	}
}

// mostGranted is how many requests one message grants.
const mostGranted = 4096

// grant sends a mirror one message for all its requests that are granted.
func (h *Home) grant(p *peer, granted []int, w *Work) {
	mode, from := h.guests[granted[0]].mode, len(w.ids)
	invariant.Check(mode == Read || len(granted) == 1, "a writer is granted beside others")
	stamp := h.ledger.Grant(mode)
	for _, at := range granted {
		h.guests[at].fence = stamp.Fence
		w.ids = append(w.ids, h.guests[at].id)
	}
	m := h.to(p, GrantMessage, w)
	m.Mode, m.Stamp, m.IDs = mode, stamp, w.ids[from:len(w.ids):len(w.ids)]
	h.fill(p, m)
}

// fill adds the bytes to a grant, unless the mirror has this version.
func (h *Home) fill(p *peer, m *Message) {
	version := h.ledger.version.Own() + 1
	if p.known == version {
		return
	}
	p.known = version
	m.Size, m.Whole, m.Bytes = len(h.buffer.Bytes()), true, h.buffer.Sent()
}

// to appends a message to a mirror. It is good until the next one.
func (h *Home) to(p *peer, k Kind, w *Work) *Message {
	p.sent++
	w.Messages = append(w.Messages, Message{
		Kind: k, Resource: h.o.Resource,
		Node: p.node, Incarnation: p.incarnation, Seq: p.sent,
	})
	return &w.Messages[len(w.Messages)-1]
}

// refuse ends a mirror's request.
func (h *Home) refuse(p *peer, id ID, why Reason, w *Work) {
	m := h.to(p, RefusedMessage, w)
	m.ID, m.Reason = id, why
}

// refuseLife ends all requests of a life of a mirror.
func (h *Home) refuseLife(n Node, incarnation uint64, why Reason, w *Work) {
	w.Messages = append(w.Messages, Message{
		Kind: RefusedMessage, Resource: h.o.Resource,
		Node: n, Incarnation: incarnation, Reason: why,
	})
}
