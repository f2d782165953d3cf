package p2p

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/multiformats/go-multiaddr"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
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
	case m.Give != nil || m.Gathered != nil:
		return n.takeGathering(from, m, bulk)
	case m.Change != nil && from != n.number:
		return n.takeChange(from, bulk)
	case m.Arena != nil && from != n.number:
		return n.takeOffer(from, m.Arena)
	case m.Mapped != nil && from != n.number:
		return n.takeMapped(from, m.Mapped)
	}
	return protocolError("node %d says what is not for it to say", from)
}

// complete reports whether all nodes that begin are there, or were.
func (n *Node) complete() bool {
	select {
	case <-n.joined:
		return true
	default:
		return false
	}
}

// join waits until all nodes that begin are there, or until the run has this late one.
func (n *Node) join(ctx context.Context) error {
	if n.options.Late {
		return n.joinLate(ctx)
	}
	if n.number == 0 {
		return n.joinRoot(ctx)
	}
	root := n.peer(0)
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

// joinLate waits until this node is in an epoch of the run.
func (n *Node) joinLate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.options.JoinTimeout)
	defer cancel()
	if err := n.rejoin(ctx); err != nil {
		return n.notJoined(err)
	}
	select {
	case <-n.joined:
		return nil
	case <-ctx.Done():
		return n.notJoined(context.Cause(ctx))
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
	e := &MissingError{Nodes: n.options.Begin, Why: why}
	for i, p := range n.all() {
		if p != nil && i < n.options.Begin && (p.life() == 0 || p.loss() != nil) {
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
	if first && p.node.number == 0 && !p.node.options.Late {
		p.node.enrolled(1)
	}
}

// enrolled counts the nodes that are there, on node 0.
func (n *Node) enrolled(more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.present += more
	if n.present == n.options.Begin && !n.complete() {
		close(n.joined)
	}
}

// tellMembers begins the first epoch, and tells every node where all nodes are.
func (n *Node) tellMembers() error {
	first := membership.Epoch{Number: 1, Seats: make([]membership.Seat, n.options.Nodes)}
	for i := range n.options.Begin {
		seat := membership.Seat{Life: n.options.Incarnation, Address: n.announced, State: membership.In, Since: 1}
		if p := n.peer(i); p != nil {
			seat.Life, seat.Address = p.life(), p.where()
		}
		first.Seats[i] = seat
	}
	n.begins(first)
	said := membership.Message{Kind: membership.Enter, Number: first.Number, Seats: first.Seats}
	header, bulk := control.Message{Change: &control.Change{Epoch: first.Number}}.Bytes(), said.Bytes()
	for i := 1; i < n.options.Begin; i++ {
		if err := n.Send(i, ownChannel, header, bulk, true); err != nil {
			return n.missing(err)
		}
	}
	return nil
}

// takeMembers notes where all nodes are. Node 0 says so.
func (n *Node) takeMembers(said membership.Message) error {
	for i, p := range n.all() {
		s := said.Seats[i]
		switch {
		case p != nil && s.State != membership.In:
			// It ends when the epoch is known.
		case p == nil && s.Life != n.options.Incarnation:
			return protocolError("the list of members has life %d of this node, which is %d", s.Life, n.options.Incarnation)
		case p != nil && !p.is(s.Life, s.Address):
			p.lose(fmt.Errorf("%w: it is not the life that node 0 has admitted as node %d", ErrStranger, i))
		}
	}
	n.begins(membership.Epoch{Number: said.Number, Seats: said.Seats})
	for i, s := range said.Seats {
		if s.State != membership.In { // lost before this node came, or absent
			n.peer(i).excluded(said.Number, s.State)
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
