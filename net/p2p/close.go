package p2p

import (
	"context"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// Close leaves the run: what was sent before is taken by the others, who then hear that
// this node has left, and do not take it for lost. It waits for nodes that do not
// answer until they are lost, or ctx is done. Nothing is received once it has
// returned.
func (n *Node) Close(ctx context.Context) error {
	if n.closing.Swap(true) {
		<-n.closed
		return nil
	}
	err := n.farewell(ctx)
	n.part(ctx)
	n.shut()
	return err
}

// farewell says goodbye on all lanes, after everything else has been taken.
func (n *Node) farewell(ctx context.Context) error {
	for _, kind := range []transport.Kind{transport.Data, transport.Control} {
		for _, p := range n.all() {
			if p != nil && kind == transport.Control {
				p.lanes[kind].Bye(p.met.Load())
			}
		}
		for _, p := range n.all() {
			if p == nil {
				continue
			}
			// A peer that is gone is no error.
			if err := p.lanes[kind].Settled(ctx); err != nil && p.loss() == nil {
				return fmt.Errorf("p2p: closing node %d: node %d has not taken everything: %w", n.number, p.number, err)
			}
		}
	}
	return nil
}

// part waits until nodes that have left know that this one does, too: what is closed here may
// be lost on its way.
func (n *Node) part(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	for _, p := range n.all() {
		if p == nil {
			continue
		}
		if why := p.loss(); why != nil && why.Left {
			p.lanes[transport.Control].Parted(ctx)
		}
	}
}

// shut ends everything, and waits for all goroutines. Parcels that the others have not
// taken are lost.
func (n *Node) shut() {
	n.closing.Store(true)
	n.host.Deafen()
	n.cancel()
	every := n.every()
	for _, p := range every {
		if p != nil {
			p.end(&PeerError{Node: p.number, Why: ErrClosed})
			for kind := range p.lanes { // nodes that have left have lanes, too
				p.lanes[kind].Finish(ErrClosed, true)
			}
		}
	}
	if o := n.operations.Load(); o != nil {
		(*o).Shut()
	}
	n.own.close()
	n.notices.close()
	n.group.Wait()
	if a := n.memory.Arena(); a != nil {
		a.Close()
	}
	for _, p := range every {
		if p == nil {
			continue
		}
		if m := p.mapping.Load(); m != nil {
			m.Close()
		}
	}
	if err := n.host.Close(); err != nil {
		n.log.Debug("host not closed well", "why", err)
	}
	close(n.closed)
}

// every are the peers of all lives.
func (n *Node) every() []*peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Clone(n.past)
	for _, p := range n.all() {
		all = append(all, p)
	}
	return all
}

// abandon ends a node whose run never was complete, and tells the nodes that are there.
func (n *Node) abandon(why error) {
	n.closing.Store(true)
	f := wire.Refuse{Reason: fmt.Sprintf("the run is called off: %v", why)}
	var streams []*lane.Stream
	for _, p := range n.all() {
		if p == nil || n.number != 0 || n.options.Late {
			continue
		}
		l := &p.lanes[transport.Control]
		if s := l.Attached(); s != nil {
			streams = append(streams, s)
		}
		l.Loose(wire.KindRefuse, f.Append)
	}
	ctx, cancel := context.WithTimeout(n.ctx, lastWords)
	defer cancel()
	for _, s := range streams {
		select {
		case <-s.Ended(): // the peer has read it, and closed
		case <-ctx.Done():
		}
	}
	n.shut()
}

// OnLoss has f called for each node that is gone, once, after everything that came
// from it: also for those that already are. By then the node has let go of what this one has
// lent to it, or its lease is over. The error is a *PeerError, which matches
// ErrLost or ErrLeft. Observers are called one at a time, and must not wait for long,
// nor close the node.
func (n *Node) OnLoss(f func(peer int, why error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lossSeen = append(n.lossSeen, f)
	for _, e := range n.announces {
		n.notices.put(func() { f(e.Node, e) })
	}
}

// OnSuspect has f called when a node may have given this one up, because it has echoed
// none of the last heartbeats: this node must let go of whatever that node has lent to
// it. A node of the same launcher is suspected only if it has also given notice. f is
// called again if the node was heard meanwhile.
func (n *Node) OnSuspect(f func(peer int)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.suspectors = append(n.suspectors, f)
}

// Suspected reports whether a node may have given this one up, as of now, or is gone. It does not
// wait for a timer, so it is right also for a process that was stopped and has just
// gone on. A node is suspected only after it was in touch.
func (n *Node) Suspected(number int) bool {
	if number < 0 || number >= len(n.peers) || number == n.number {
		return false
	}
	p := n.peer(number)
	return p.met.Load() && (p.over.Load() || p.contact.Suspected(n.options.terms(), n.now()) && !p.kept())
}

// Lost is why a node is gone, nil if it is not: a *PeerError.
func (n *Node) Lost(number int) error {
	if number < 0 || number >= len(n.peers) || number == n.number {
		return nil
	}
	if e := n.peer(number).loss(); e != nil {
		return e
	}
	return nil
}

// hasLost does what must be done at once for a node that is gone. No lock is held.
func (n *Node) hasLost(p *peer, e *PeerError) {
	if n.closing.Load() {
		return
	}
	switch {
	case e.absent():
		return // it was no member
	case e.Left:
		n.counts.Left.Add(1)
		n.log.Debug("node has left", "peer", p.number)
	default:
		n.counts.Lost.Add(1)
		n.log.Warn("node lost", "peer", p.number, "address", e.Address, "why", e.Why)
	}
	if !n.complete() && (n.number == 0 || p.number == 0) && !n.options.Late {
		select {
		case n.failed <- e:
		default:
		}
	}
	n.misses(e, p)
}

// announce tells the observers of a node that is gone.
func (n *Node) announce(p *peer, e *PeerError) {
	n.mu.Lock()
	n.announces = append(n.announces, e)
	observers := slices.Clone(n.lossSeen)
	n.mu.Unlock()
	if o := n.operations.Load(); o != nil {
		(*o).Lost(p.number, e)
	}
	for _, f := range observers {
		f(p.number, e)
	}
}

// suspicion tells the observers of a node that may have given this one up.
func (n *Node) suspicion(number int) {
	n.mu.Lock()
	observers := slices.Clone(n.suspectors)
	n.mu.Unlock()
	for _, f := range observers {
		f(number)
	}
}
