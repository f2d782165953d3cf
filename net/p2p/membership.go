package p2p

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/multiformats/go-multiaddr"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// ownChannel is the channel of the nodes themselves. The header of a parcel is a message of
// package control.
const ownChannel = 0

// takeOwn receives ownChannel.
func (n *Node) takeOwn(from int, header, bulk []byte) error {
	m, err := control.Parse(header)
	if err != nil {
		return fmt.Errorf("%w: node %d: %w", ErrProtocol, from, err)
	}
	switch {
	case m.Give != nil && n.number == 0:
		return n.takeGift(from, m.Give, bulk)
	case m.Gathered != nil && from == 0:
		return n.takeGathered(m.Gathered, bulk)
	case m.Members != nil && from == 0 && n.number != 0:
		return n.takeMembers(m.Members, bulk)
	case m.Arena != nil && from != n.number:
		return n.takeOffer(from, m.Arena)
	case m.Mapped != nil && from != n.number:
		return n.takeMapped(from, m.Mapped)
	case m.Lost != nil && from == 0 && n.number != 0:
		return n.takeLoss(m.Lost)
	}
	return protocolError("node %d says what is not for it to say", from)
}

// complete reports whether all nodes are there, or were.
func (n *Node) complete() bool {
	select {
	case <-n.joined:
		return true
	default:
		return false
	}
}

// join waits until all nodes are there.
func (n *Node) join(ctx context.Context) error {
	if n.number == 0 {
		return n.joinRoot(ctx)
	}
	root := n.peers[0]
	root.lanes[transport.Control].Connect()
	timer := time.NewTimer(n.options.JoinTimeout)
	defer timer.Stop()
	for {
		select {
		case <-n.joined:
			return nil
		case err := <-n.failed:
			return n.notJoined(err)
		case <-ctx.Done():
			return n.notJoined(context.Cause(ctx))
		case <-timer.C:
			// Once admitted, it is for node 0 to wait for the others.
			if !root.met.Load() {
				root.mu.Lock()
				defer root.mu.Unlock()
				return &MissingError{Nodes: n.options.Nodes, Missing: []int{0}, Why: root.failure}
			}
		}
	}
}

// notJoined is the error of Join.
func (n *Node) notJoined(err error) error {
	var gone *PeerError
	if errors.As(err, &gone) && isAny(err, ErrRefused, ErrStranger) {
		err = gone.Why
	}
	return fmt.Errorf("p2p: node %d could not join: %w", n.number, err)
}

// joinRoot waits for the others and tells them that all are there.
func (n *Node) joinRoot(ctx context.Context) error {
	n.enrolled(0)
	timer := time.NewTimer(n.options.JoinTimeout)
	defer timer.Stop()
	select {
	case <-n.joined:
		return n.tellMembers()
	case err := <-n.failed:
		return n.missing(err)
	case <-ctx.Done():
		return n.missing(context.Cause(ctx))
	case <-timer.C:
		return n.missing(nil)
	}
}

// missing is the error of Join on node 0.
func (n *Node) missing(why error) error {
	e := &MissingError{Nodes: n.options.Nodes, Why: why}
	for _, p := range n.peers {
		if p != nil && (p.life() == 0 || p.fate() != nil) {
			e.Missing = append(e.Missing, p.number)
		}
	}
	return e
}

// listens notes where a node listens that has said a good hello.
func (p *peer) listens(address string, remote multiaddr.Multiaddr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.address == "" {
		p.address = transport.SeenFrom(address, remote)
	}
}

// enrol notes that a node is there. It has a stream by now: when all are there, each is
// told so, and none is dialled for that while it still says hello.
func (p *peer) enrol() {
	p.mu.Lock()
	first := !p.enrolled
	p.enrolled = true
	p.mu.Unlock()
	if first && p.node.number == 0 {
		p.node.enrolled(1)
	}
}

// enrolled counts the nodes that are there, on node 0.
func (n *Node) enrolled(more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.present += more
	if n.present == n.options.Nodes && !n.complete() {
		close(n.joined)
	}
}

// tellMembers tells everybody where everybody is.
func (n *Node) tellMembers() error {
	members := make([]control.Member, n.options.Nodes)
	for i, p := range n.peers {
		if i == n.number {
			members[i] = control.Member{Incarnation: n.options.Incarnation, Address: n.announced}
		} else {
			members[i] = control.Member{Incarnation: p.life(), Address: p.where()}
		}
	}
	header, list := control.Message{Members: &control.Members{Nodes: n.options.Nodes}}.Bytes(), pack.Encode(members)
	for i := 1; i < n.options.Nodes; i++ {
		if err := n.Send(i, ownChannel, header, list, true); err != nil {
			return n.missing(err)
		}
	}
	return nil
}

// takeMembers notes where everybody is.
func (n *Node) takeMembers(said *control.Members, list []byte) error {
	if n.complete() {
		return protocolError("the list of members, again")
	}
	members, err := pack.List[control.Member](list, n.options.Nodes)
	if err != nil || said.Nodes != n.options.Nodes {
		return protocolError("a list of %d members, want %d: %v", said.Nodes, n.options.Nodes, err)
	}
	for i, p := range n.peers {
		m := members[i]
		switch {
		case p == nil && m.Incarnation != n.options.Incarnation:
			return protocolError("the list of members has life %d of this node, which is %d", m.Incarnation, n.options.Incarnation)
		case p != nil && !p.is(m.Incarnation, m.Address):
			p.lose(fmt.Errorf("%w: it is not the life that node 0 has admitted as node %d", ErrStranger, i))
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.joined)
	return nil
}

// is notes the life and the address of the peer that node 0 tells, and reports whether
// the life is the one that was met.
func (p *peer) is(incarnation uint64, address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.address == "" {
		p.address = address
	}
	if p.incarnation == 0 {
		p.incarnation = incarnation
	}
	return p.incarnation == incarnation
}

// tellLoss tells everybody that node 0 has given a node up, so that all agree. A node
// that never was in touch with it would wait for it.
func (n *Node) tellLoss(e *PeerError) {
	if !n.complete() {
		return
	}
	text := e.Why.Error()
	header := control.Message{Lost: &control.Lost{Node: e.Node, Why: text[:min(len(text), wire.MaxText)], Silent: e.silent()}}.Bytes()
	for _, p := range n.peers {
		if p != nil && p.fate() == nil {
			// If it fails, that node is gone too.
			_ = n.Send(p.number, ownChannel, header, nil, false)
		}
	}
}

// takeLoss gives a node up because node 0 has.
func (n *Node) takeLoss(said *control.Lost) error {
	if said.Node <= 0 || said.Node >= len(n.peers) || said.Node == n.number {
		return protocolError("node 0 says that it has lost node %d", said.Node)
	}
	why := fmt.Errorf("node 0 has given it up: %s", said.Why)
	n.peers[said.Node].end(&PeerError{Node: said.Node, Why: why, told: said.Silent})
	return nil
}
