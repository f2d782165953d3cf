package p2p

import (
	"time"
)

// heart sends this node's heartbeats, and watches those of the others.
//
// A peer is lost when it was not heard for lease and skew. It is suspected, to have
// given up this node, when none of the beats sent since lease less skew was echoed:
// a holder that lets go then, by its own clock, has let go before the peer takes it for
// lost, even if the clocks differ by skew.
//
//	this node   beat sent ───────────────── suspects ─ ─ ─ ─ ─ ─ ▶
//	                 ╲        lease−skew
//	peer              beat heard ────────────────────────── lost ▶
//	                                 lease+skew
type heart struct {
	node   *Node
	nudged chan struct{}
}

func newHeart(n *Node) *heart { return &heart{node: n, nudged: make(chan struct{}, 1)} }

// nudge makes the heart look again at when it is to wake.
func (h *heart) nudge() {
	select {
	case h.nudged <- struct{}{}:
	default:
	}
}

// run beats until the node is closed.
func (h *heart) run() {
	n := h.node
	o := &n.options
	next := n.now() + int64(o.Beat)
	planned := next
	timer := time.NewTimer(o.Beat)
	defer timer.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-h.nudged:
		case <-timer.C:
		}
		now := n.now()
		if late := now - planned; late > int64(o.Beat) {
			h.forgive(late)
		}
		if now >= next {
			next = now + int64(o.Beat)
			h.beat()
		}
		planned = h.watch(now, next)
		timer.Reset(time.Duration(planned - now))
	}
}

// forgive does not count the time during which this process did not run at all: what
// peers have said meanwhile is still to be read.
func (h *heart) forgive(late int64) {
	for _, p := range h.node.peers {
		if p != nil {
			raise(&p.heard, min(h.node.now(), p.heard.Load()+late))
		}
	}
}

// beat says to everybody that this node lives, and what it has taken.
func (h *heart) beat() {
	for _, p := range h.node.peers {
		if p == nil || !p.met.Load() {
			continue
		}
		if p.fate() == nil {
			p.speak()
		}
		for kind := range p.lanes {
			p.lanes[kind].acknowledge()
		}
	}
}

// watch looks after the others, and returns when to do so again: at until, or before.
func (h *heart) watch(now, until int64) int64 {
	n := h.node
	o := &n.options
	for _, p := range n.peers {
		if p == nil || !p.met.Load() {
			continue
		}
		lost := p.heard.Load() + int64(o.Lease+o.Skew)
		if now >= lost {
			h.silent(p)
			continue
		}
		until = min(until, lost)
		if p.fate() != nil {
			continue
		}
		suspect := p.echoed.Load() + int64(o.Lease-o.Skew)
		switch {
		case now < suspect:
			p.suspected.Store(false)
			until = min(until, suspect)
		case !p.suspected.Swap(true):
			n.notices.put(func() { n.suspicion(p.number) })
		}
	}
	return until
}

// silent ends a peer of which nothing was heard for too long; also one that has left,
// and has not closed its streams.
func (h *heart) silent(p *peer) {
	if p.fate() == nil {
		p.lose(errSilent)
		return
	}
	for kind := range p.lanes {
		l := &p.lanes[kind]
		l.mu.Lock()
		if s := l.stream; s != nil {
			l.sever(s, errSilent)
		}
		l.mu.Unlock()
	}
}
