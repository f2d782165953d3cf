package p2p

import "slices"

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
	if e := n.peer(number).fate(); e != nil {
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
