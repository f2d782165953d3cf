package p2p

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/lease"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// peer is what this node knows of another.
//
//	unmet ──▶ met ──┬──▶ lost    for good: another life has another peer
//	                └──▶ left
type peer struct {
	node   *Node
	number int
	lanes  [transport.Kinds]lane.Lane

	ctx    context.Context // done when it is gone
	cancel context.CancelFunc

	met     atomic.Bool  // it has said hello
	pending atomic.Int32 // connections that have not said hello
	contact lease.Contact
	trying  atomic.Int32 // connections that may take the place of a stream
	reaches int64        // the heart's: when it tries the next connection
	doubted atomic.Bool  // OnSuspect was told
	tenure  lease.Tenure // the heart's
	// Its arena, and what it does with this node's.
	offered  atomic.Bool
	mapping  atomic.Pointer[loan.Mapping]
	lending  atomic.Uint32
	asked    atomic.Int64 // when a later life asked first from its address; 0: none has
	promises atomic.Bool  // it gives this node notice before it loses it by silence

	over        atomic.Bool // gone is not nil
	mu          sync.Mutex
	address     string
	incarnation uint64
	announced   chan struct{} // closed when the observers know that it is gone
	gone        *PeerError
	failure     error // why it could not be dialled the last time
	faults      int
	enrolled    bool // node 0 has enrolled it
}

// mostFaults is how many streams of a peer may end by what no correct node sends.
const mostFaults = 16

func newPeer(n *Node, number int) *peer {
	p := &peer{node: n, number: number, announced: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(n.ctx)
	for kind := range p.lanes {
		p.lanes[kind].Init(&n.lanes, number, p, transport.Kind(kind))
	}
	return p
}

// where is its address.
func (p *peer) where() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

// life is its incarnation, 0 if that is not known.
func (p *peer) life() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.incarnation
}

// loss is why it is lost, nil if it is not.
func (p *peer) loss() *PeerError {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

// failed notes why it could not be dialled.
func (p *peer) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = err
}

// check is what is wrong with a hello, "" if nothing is. It gets the life of the peer
// from the first.
func (p *peer) check(f *wire.Hello, kind transport.Kind) (reason string) {
	if reason := p.unlike(f); reason != "" {
		return reason
	}
	o := &p.node.options
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case f.Lane != uint64(kind):
		return fmt.Sprintf("it says lane %d on a connection for lane %d", f.Lane, kind)
	case p.gone != nil && p.gone.absent():
		return fmt.Sprintf("nodes 0 to %d begin this run, and it does not say that it comes late: give all nodes the same Options.Begin", o.Begin-1)
	case p.incarnation != 0 && f.Incarnation != p.incarnation:
		return p.taken()
	case p.gone != nil:
		return fmt.Sprintf("node %d has given it up: %v", o.Number, p.gone)
	case f.Peer != 0 && f.Peer != o.Incarnation:
		return fmt.Sprintf("it takes node %d for another life of it", o.Number)
	}
	p.incarnation = f.Incarnation
	return ""
}

// unlike is what makes a process no node of this run, "" if nothing does.
func (p *peer) unlike(f *wire.Hello) (reason string) {
	o := &p.node.options
	switch {
	case f.Version != wire.Version:
		return fmt.Sprintf("it speaks version %d, node %d speaks %d: start all nodes from one build", f.Version, o.Number, wire.Version)
	case f.Nodes != uint64(o.Nodes):
		return fmt.Sprintf("its run has %d nodes, that of node %d has %d: give all the same number", f.Nodes, o.Number, o.Nodes)
	case f.Lease != uint64(o.Lease) || f.Skew != uint64(o.Skew):
		// A node that is given up by the shorter lease would not know it by the longer.
		return fmt.Sprintf("its lease is %v and its skew %v, those of node %d are %v and %v: give all the same",
			time.Duration(f.Lease), time.Duration(f.Skew), o.Number, o.Lease, o.Skew)
	case f.Node != uint64(p.number):
		return fmt.Sprintf("it says that it is node %d, and its identity is that of node %d", f.Node, p.number)
	case f.Incarnation == 0:
		return "it has no incarnation"
	}
	return ""
}

// taken is why another life of the peer is not admitted. p.mu is held.
func (p *peer) taken() string {
	if p.gone != nil {
		return fmt.Sprintf("node %d is gone from this run, and cannot come back without Options.Late: %v", p.number, p.gone)
	}
	if p.node.complete() {
		return fmt.Sprintf("all %d nodes that begin are there, node %d at %s", p.node.options.Begin, p.number, p.address)
	}
	return fmt.Sprintf("number %d is in use, by the node at %s: give each node its own", p.number, p.address)
}

// answers notes that the peer was heard, and returns why its hello gets no answer: the peer is gone. The peer takes the
// answer for an echo, so it renews its lease by it. First this node hears, then it looks: see lapse.
func (p *peer) answers() error {
	p.hears()
	if gone := p.loss(); gone != nil {
		return gone
	}
	return nil
}

// greeted notes that a stream was opened: the peer lives. This side has said hello at the
// time said. answered tells whether the peer's hello is the answer to that.
func (p *peer) greeted(kind transport.Kind, said int64, answered bool) {
	p.hears()
	p.contact.Touches(p.node.now())
	if answered {
		p.contact.Proves(said)
	}
	if answered || !p.met.Load() {
		p.contact.Answered(said)
	}
	if kind == transport.Control {
		p.met.Store(true)
		p.enrol()
		p.speak()
		if p.node.options.Launched {
			p.node.offerOnce(p)
		}
		p.node.heart.nudge()
		p.node.enteredAll()
	}
}

// hears notes a sign of life.
func (p *peer) hears() { p.contact.Hears(p.node.now()) }

// Context implements lane.Peer.
func (p *peer) Context() context.Context { return p.ctx }

// Mapping implements lane.Peer.
func (p *peer) Mapping() *loan.Mapping { return p.mapping.Load() }

// Lends implements lane.Peer.
func (p *peer) Lends() bool { return lending(p.lending.Load()) == willing }

// Lose implements lane.Peer.
func (p *peer) Lose(why error) { p.lose(why) }

// Refused implements lane.Peer.
func (p *peer) Refused(reason string) { p.lose(&RefusedError{By: p.number, Reason: reason}) }

// Beaten implements lane.Peer.
func (p *peer) Beaten(f wire.Beat) error {
	took, newer, good := p.contact.Takes(f, p.node.now())
	if !good {
		return protocolError("it echoes a beat that was not sent yet")
	}
	if trip := p.node.trip.Load(); trip != nil && newer {
		(*trip)(took)
	}
	return nil
}

// speak sends a heartbeat, unless the peer is gone.
func (p *peer) speak() {
	if f, ok := p.says(); ok {
		p.lanes[transport.Control].Loose(wire.KindBeat, f.Append)
	}
}

// says makes the beat, with p.mu held: see lapse.
func (p *peer) says() (f wire.Beat, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.contact.Says(p.node.now()), p.gone == nil
}

// misheard counts a connection that began with what no correct node says.
func (p *peer) misheard(err error) {
	p.lanes[transport.Control].Fault(err)
}

// Misbehaved notes something that no correct node does, and gives the peer up if it
// goes on with that.
func (p *peer) Misbehaved(err error) {
	p.mu.Lock()
	p.faults++
	faults := p.faults
	p.mu.Unlock()
	p.node.log.Warn("stream closed for what came", "peer", p.number, "times", faults, "why", err)
	if faults >= mostFaults {
		p.lose(fmt.Errorf("%w: %d streams were closed for what came, the last %w", ErrProtocol, faults, err))
	}
}

// lose gives the peer up, for good.
func (p *peer) lose(why error) { p.end(&PeerError{Node: p.number, Why: why}) }

// lapse gives the peer up because nothing was heard of it since some time. If something was
// heard meanwhile, it does nothing: the peer may have an echo of that, and keep what it has.
// No echo is made in between, because p.mu is held there, too.
func (p *peer) lapse(heard int64, why error) {
	e := &PeerError{Node: p.number, Why: why}
	if p.mark(e, func() bool { return p.contact.Heard() == heard }) {
		p.finish(e)
	}
}

// Left implements lane.Peer. The peer has said everything.
func (p *peer) Left() { p.end(&PeerError{Node: p.number, Left: true}) }

// end ends everything with the peer, and tells all observers, once it is over.
func (p *peer) end(e *PeerError) {
	if p.mark(e, func() bool { return true }) {
		p.finish(e)
	}
}

// mark notes why the peer is gone, if that still is so, and reports whether it has.
func (p *peer) mark(e *PeerError, still func() bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != nil || !still() {
		return false
	}
	e.Address = p.address
	p.gone = e
	p.over.Store(true)
	return true
}

// finish is the rest of end. This node lets go at once of what the peer has lent to it. The
// observers are told when the peer has let go, too: see PeerError.early.
func (p *peer) finish(e *PeerError) {
	if a := p.node.memory.Arena(); a != nil {
		a.GiveUp(p.number)
	}
	p.cancel()
	p.node.hasLost(p, e)
	var streams []*lane.Stream
	for kind := range p.lanes {
		if s := p.lanes[kind].Finish(e, !e.Left); s != nil && !e.Left {
			streams = append(streams, s)
		}
	}
	if e.early() {
		p.node.notices.put(func() { p.node.suspicion(p.number) })
	}
	p.node.group.Go(func() {
		for _, s := range streams {
			<-s.Ended()
		}
		if e.early() {
			p.node.sleep(p.node.options.terms().GivesUp(p.contact.Heard()))
		}
		p.lanes[transport.Data].AfterHanding(func() { // the parcels that are handed over now were the last
			p.node.notices.put(func() {
				p.node.announce(p, e)
				close(p.announced)
			})
		})
		if m := p.mapping.Load(); m != nil && !e.Left {
			m.Close()
		}
	})
}
