package p2p

import (
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// Nodes of one machine do not send each other large bulk: they lend it. The first time
// that a node has some for another, it offers its arena. If the other can map it, what
// comes after goes as loans. Nobody waits for the answer. If it is no, or never comes,
// things take longer and nothing else changes.
//
// Nodes of one launcher offer their arenas when they meet, because they give notice of a
// loss there: see lease.Tenure. The answer then promises that, too.
//
//	offer   machine, process, file, token  ──▶   maps it, or not
//	        lends from now on              ◀──   mapped, promises notice
//	loan    where, how much                ──▶   takes it
//	        settles                        ◀──   acknowledgement

// lending is what a node knows of another that might borrow.
type lending uint32

const (
	unasked lending = iota
	asked
	willing
	unwilling
)

// lends lends the bulk of a parcel to a node that maps this one's arena, and reports
// whether it has. It first offers the arena to a node that was never asked.
func (n *Node) lends(to int, channel uint64, header, bulk []byte, keep bool) (bool, error) {
	p := n.peer(to)
	switch lending(p.lending.Load()) {
	case unasked:
		n.offerOnce(p)
		return false, nil
	case willing:
		return p.lend(wire.Parcel{Channel: channel, Header: header}, bulk, keep)
	}
	return false, nil
}

// lend lends the bulk of a parcel to the peer, if there is memory for that.
func (p *peer) lend(parcel wire.Parcel, bulk []byte, keep bool) (bool, error) {
	l := &p.lanes[transport.Control]
	if err := l.Takes(); err != nil { // before anything is copied
		return true, err
	}
	b, offset := p.node.memory.Shared().Lend(bulk, keep)
	if b == nil {
		return false, nil
	}
	return true, l.Lend(&wire.Loan{Parcel: parcel, Offset: uint64(offset), Length: len(bulk)}, b)
}

// offerOnce offers the arena of this node to another, unless it has done so.
func (n *Node) offerOnce(p *peer) {
	if p.lending.CompareAndSwap(uint32(unasked), uint32(asked)) {
		n.offer(p)
	}
}

// offer offers the arena of this node to another.
func (n *Node) offer(p *peer) {
	a := n.memory.Shared()
	if a == nil {
		p.lending.Store(uint32(unwilling))
		return
	}
	said := control.Arena{Machine: n.machine, PID: a.Offer.PID, FD: a.Offer.FD, Bell: a.Offer.Bell, Token: a.Offer.Token}
	// If it fails, that node is gone.
	_ = n.Send(p.number, ownChannel, control.Message{Arena: &said}.Bytes(), nil, false)
}

// takeOffer maps the arena that another node offers, and says whether it could.
func (n *Node) takeOffer(from int, said *control.Arena) error {
	p := n.peer(from)
	if p.offered.Swap(true) {
		return protocolError("node %d offers its arena again", from)
	}
	mapped := n.maps(p, said)
	if mapped {
		n.offerOnce(p)
	}
	answer := control.Message{Mapped: &control.Mapped{Mapped: mapped, Promises: mapped && n.options.Launched}}
	_ = n.Send(from, ownChannel, answer.Bytes(), nil, false) // if it fails, that node is gone
	return nil
}

// maps maps the arena of another node, if it can be.
func (n *Node) maps(p *peer, said *control.Arena) bool {
	if n.machine == "" || said.Machine != n.machine {
		return false
	}
	m, err := loan.Map(loan.Offer{PID: said.PID, FD: said.FD, Bell: said.Bell, Token: said.Token}, n.options.Nodes, n.number)
	if err != nil {
		n.log.Debug("node shares no memory with this one", "peer", p.number, "why", err)
		return false
	}
	p.mapping.Store(m)
	return true
}

// takeMapped takes the answer to an offer.
func (n *Node) takeMapped(from int, said *control.Mapped) error {
	p := n.peer(from)
	answer := unwilling
	if said.Mapped {
		answer = willing
	}
	if !p.lending.CompareAndSwap(uint32(asked), uint32(answer)) {
		return protocolError("node %d has mapped what was not offered", from)
	}
	if said.Mapped {
		n.counts.Neighbours.Add(1)
	}
	p.promises.Store(said.Promises)
	return nil
}
