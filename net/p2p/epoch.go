package p2p

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/gathering"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Once all nodes are there, packages membership and gathering say what follows when a node is
// lost. This file joins their step functions to the network. Node.mu guards them.

// begins enters the first epoch. Nodes that are lost already are lost in it.
func (n *Node) begins(first membership.Epoch) {
	n.mu.Lock()
	n.member, n.gatherer = membership.New(n.number, first, n.sure), gathering.New(n.number, first)
	n.gatherer.Moved = n.moved
	early := n.early
	n.early = nil
	n.mu.Unlock()
	for _, p := range n.all() {
		if p != nil && p.loss() != nil {
			n.misses(p.loss(), p)
		}
	}
	for _, m := range early {
		// The error was found when the message came, or it is no fault of this node.
		_ = n.change(func(to *membership.Member) ([]membership.Letter, error) { return to.Step(m.from, m.Message) })
	}
}

// earlyChange is a message that overtook the first epoch.
type earlyChange struct {
	from int
	membership.Message
}

// mostEarly is how many of them one node may send.
const mostEarly = 4

// misses changes the membership because this node has lost a life of another one.
func (n *Node) misses(e *PeerError, p *peer) {
	n.changeFor(p, func(m *membership.Member) []membership.Letter { return m.Lost(e.Node, e.state()) })
	if e.state() == membership.Silent {
		n.group.Go(func() { n.quiets(p) })
	}
}

// quiets tells the membership when a peer that may run is sure of this node no more, by its lease.
func (n *Node) quiets(p *peer) {
	terms := n.options.terms()
	for at := terms.GivesUp(p.contact.Heard()); n.now() < at; at = terms.GivesUp(p.contact.Heard()) {
		if n.sleep(at); n.ctx.Err() != nil {
			return
		}
	}
	n.changeFor(p, func(m *membership.Member) []membership.Letter { return m.Quiet(p.number) })
}

// changeFor has f change the membership because of a peer, unless the epoch has a later life of it.
func (n *Node) changeFor(p *peer, f func(m *membership.Member) []membership.Letter) {
	life := p.life()
	// News of this node itself is always taken.
	_ = n.change(func(m *membership.Member) ([]membership.Letter, error) {
		if life != 0 && life != m.Epoch().Seats[p.number].Life {
			return nil, nil
		}
		return f(m), nil
	})
}

// sure reports whether a node still kept this one when it ended, if it has ended by now. A node that
// loses this one lets a new life in only when this one is sure no more: see
// membership.Member.Quiet. A node is not sure of another one with which it has had no contact. The other one then need not wait.
func (n *Node) sure(number int) bool {
	p := n.peer(number)
	return p.contact.Sure(n.options.terms(), n.now()) || p.promised()
}

// takeChange takes a message about the members of the run.
func (n *Node) takeChange(from int, bulk []byte) error {
	said, err := membership.Parse(bulk, n.options.Nodes)
	if err != nil {
		return fmt.Errorf("%w: node %d: %w", ErrProtocol, from, err)
	}
	n.mu.Lock()
	begun := n.member != nil
	if !begun && said.Kind != membership.Enter {
		defer n.mu.Unlock()
		if len(n.early) >= mostEarly*n.options.Nodes {
			return protocolError("node %d speaks of epoch %d, and the run has not begun", from, said.Number)
		}
		n.early = append(n.early, earlyChange{from, said})
		return nil
	}
	n.mu.Unlock()
	if !begun { // all members say so to a node that comes back: the first one counts
		n.entry.Lock()
		defer n.entry.Unlock()
		n.mu.Lock()
		begun = n.member != nil
		n.mu.Unlock()
	}
	switch {
	case begun && said.Kind == membership.Miss:
		n.group.Go(func() { n.takeMiss(from, said) })
	case begun:
		err = n.change(func(m *membership.Member) ([]membership.Letter, error) { return m.Step(from, said) })
	case !n.options.Late && (from != 0 || said.Number != 1) || said.Seats[n.number].Life != n.options.Incarnation:
		return protocolError("node %d begins the run with epoch %d", from, said.Number)
	default:
		return n.takeMembers(said)
	}
	if err != nil {
		return fmt.Errorf("%w: node %d: %w", ErrProtocol, from, err)
	}
	return nil
}

// takeMiss takes a Miss a lease after it has come. If the silent node is silent for this one, too, it is lost by then, and the node that
// misses it stays. All that hear a node that stops lose it within a beat, in any order.
func (n *Node) takeMiss(from int, said membership.Message) {
	terms := n.options.terms()
	n.sleep(terms.GivesUp(n.now()) + int64(terms.MostBeat()))
	if n.ctx.Err() == nil {
		_ = n.change(func(m *membership.Member) ([]membership.Letter, error) { return m.Step(from, said) }) // Parse has checked it
	}
}

// loses reports whether an epoch is without a node that was in the one before and has not left.
func loses(before, now membership.Epoch) bool {
	for i, s := range now.Seats {
		if before.Has(i) && s.State != membership.In && s.State != membership.Left {
			return true
		}
	}
	return false
}

// change has f change the membership, and does what follows. Nodes that take no part in the
// epoch are given up.
func (n *Node) change(f func(m *membership.Member) ([]membership.Letter, error)) error {
	n.mu.Lock()
	m := n.member
	if m == nil { // begins looks at earlier losses
		n.mu.Unlock()
		return nil
	}
	before, apart := m.Epoch(), m.Apart()
	out, err := f(m)
	now := m.Epoch()
	for i, s := range now.Seats {
		if s.Life != before.Seats[i].Life { // the former life hears nothing any more
			delete(n.waiting, i)
		}
	}
	for _, l := range out {
		header := control.Message{Change: &control.Change{Epoch: l.Number}}
		n.tells(l.To, header.Bytes(), l.Bytes())
	}
	if now.Number != before.Number {
		level := slog.LevelDebug // nodes leave, as at the end of every run
		if loses(before, now) {
			level = slog.LevelInfo
		}
		n.log.Log(context.Background(), level, "epoch", "number", now.Number, "nodes", now.Members())
		n.postGatherings(n.gatherer.Enter(now))
		n.settles()
		n.entered()
	}
	switch c := m.Chair(); {
	case m.Apart():
		if !apart {
			n.parts(now)
		}
	case c != n.number && !n.behind(c) && !n.peer(c).met.Load():
		n.peer(c).lanes[transport.Control].Connect() // without that it would not notice that the chair is lost
	}
	n.mu.Unlock()
	if now.Number == before.Number {
		return err
	}
	for i, s := range now.Seats {
		if p := n.peer(i); i != n.number && s.State != membership.In && s.Life == p.life() {
			p.excluded(now.Number, s.State)
		}
	}
	n.returns(now)
	return err
}

// Epoch is a set of members of the run. No two nodes that live are ever in epochs with the same number and other members.
type Epoch = membership.Epoch

// Epoch is the last one that this node is in, or was, if it is apart.
func (n *Node) Epoch() Epoch {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.member.Epoch()
}

// OnEpoch has f called for this epoch and for later ones, once this node is connected to all members. An epoch that
// another one follows before that is left out, and so are all after this node is apart. A node whose user asks for epochs
// connects to all members; otherwise it connects when something is sent.
func (n *Node) OnEpoch(f func(Epoch)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.epochSeen = append(n.epochSeen, f)
	if e := n.member.Epoch(); n.epochTold == e.Number && n.apart == nil {
		n.notices.put(func() { f(e) })
	}
	n.entered()
}

// entered tells of the epoch, once all members are met. n.mu is held.
func (n *Node) entered() {
	if len(n.epochSeen) == 0 || n.apart != nil {
		return
	}
	e := n.member.Epoch()
	if n.epochTold == e.Number || !n.ready(e.Number) {
		return
	}
	all := true
	for _, i := range e.Members() {
		if p := n.peer(i); i != n.number && !p.met.Load() {
			p.lanes[transport.Control].Connect()
			all = false
		}
	}
	if !all {
		return
	}
	n.epochTold = e.Number
	for _, f := range n.epochSeen {
		n.notices.put(func() { f(e) })
	}
}

// enteredAll is entered when another node was met.
func (n *Node) enteredAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.member != nil {
		n.entered()
	}
}

// excluded gives up a peer that takes no part in an epoch. If it leaves, it says so itself to nodes
// that it has met.
func (p *peer) excluded(epoch uint64, how membership.State) {
	switch {
	case how == membership.Absent:
		p.end(&PeerError{Node: p.number, Why: ErrAbsent})
	case how == membership.Left && !p.met.Load():
		p.Left()
	case how == membership.Silent:
		p.end(&PeerError{Node: p.number, Why: fmt.Errorf("epoch %d goes on without it, because nothing was heard of it", epoch), told: true})
	case how == membership.Ended:
		p.end(&PeerError{Node: p.number, Why: fmt.Errorf("epoch %d goes on without it, because %w", epoch, errEnded)})
	}
}

// state is how the node went, for the others. Where connections are refused, the process has
// ended: a machine that cannot be reached refuses nothing.
func (e *PeerError) state() membership.State {
	switch {
	case e.Left:
		return membership.Left
	case errors.Is(e.Why, errEnded) || errors.Is(e.Why, errGone):
		return membership.Ended
	}
	return membership.Silent
}

// parts notes that this node is apart. n.mu is held.
func (n *Node) parts(e membership.Epoch) {
	n.apart = fmt.Errorf("%w: it does not hear enough of nodes %v of epoch %d", ErrApart, e.Members(), e.Number)
	if !e.Has(n.number) {
		n.apart = fmt.Errorf("%w: epoch %d goes on with nodes %v", ErrApart, e.Number, e.Members())
	}
	n.log.Warn("this node is apart from its run", "why", n.apart)
	close(n.parted)
	for _, f := range n.apartSeen {
		n.notices.put(func() { f(n.apart) })
	}
}

// Apart is why this node must not go on as one of the run, or nil: see OnApart.
func (n *Node) Apart() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.apart
}

// OnApart has f called, once, if this node must not go on as one of the run: it hears too few of
// the others, or they go on without it. The error matches ErrApart. Package membership has the
// rule. A run that ends with the first loss need not care.
func (n *Node) OnApart(f func(why error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.apartSeen = append(n.apartSeen, f)
	if n.apart != nil {
		n.notices.put(func() { f(n.apart) })
	}
}
