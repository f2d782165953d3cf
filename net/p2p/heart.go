package p2p

import (
	"time"
)

// heart sends this node's heartbeats, and watches the beats of other nodes.
//
// A peer is lost when nothing was heard of it for lease and skew. A peer is suspected
// when it has echoed none of the beats that were sent since lease less skew: it may have
// given up this node. A holder lets go then, by its own clock. So it has let go before
// its home loses it, even if the two clocks differ by skew. Between nodes of one launcher
// the home looks at the process first: see tenure.
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

// nudge makes the heart look again at when it has to wake.
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

// forgive does not count the time during which this process did not run at all. Frames
// that came meanwhile are not read yet.
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
			p.lanes[kind].Acknowledge()
		}
	}
}

// watch looks after the others, and returns when to do so again: at until, or before.
func (h *heart) watch(now, until int64) int64 {
	for _, p := range h.node.peers {
		if p == nil || !p.met.Load() {
			continue
		}
		if at := h.home(p, now); at > now {
			until = min(until, at)
		}
		if p.fate() != nil {
			continue
		}
		if at := h.holder(p, now); at > now {
			until = min(until, at)
		}
	}
	return until
}

// home looks after what this node has lent to a peer, and returns when to do so again.
func (h *heart) home(p *peer, now int64) int64 {
	o := &h.node.options
	heard := p.heard.Load()
	if w, vouched := p.witness(); vouched && p.fate() == nil {
		was := p.tenure.slow
		if why := p.tenure.look(o, heard, w); why != nil {
			p.lose(why)
			return now
		}
		h.tell(p, was, now-heard)
		return p.tenure.next(o, heard)
	}
	lost := heard + int64(o.Lease+o.Skew)
	if now >= lost {
		h.silent(p)
	}
	return lost
}

// tell logs that a peer has become slow, or is no longer.
func (h *heart) tell(p *peer, was bool, silence int64) {
	switch slow := p.tenure.slow; {
	case slow && !was:
		h.node.log.Warn("node is slow: its process runs, and nothing was heard of it for longer than the lease; give the nodes more processors",
			"peer", p.number, "silent", time.Duration(silence).Round(time.Millisecond).String())
	case was && !slow:
		h.node.log.Info("node is back", "peer", p.number)
	}
}

// holder looks after what a peer has lent to this node, and returns when to do so again.
func (h *heart) holder(p *peer, now int64) int64 {
	n := h.node
	suspect := p.echoed.Load() + int64(n.options.Lease-n.options.Skew)
	switch {
	case now < suspect || p.kept():
		p.suspected.Store(false)
	case !p.suspected.Swap(true):
		n.notices.put(func() { n.suspicion(p.number) })
	}
	return suspect
}

// silent ends a peer that was silent for too long. It also ends the streams
// of a peer that has left and has not closed them.
func (h *heart) silent(p *peer) {
	if p.fate() == nil {
		p.lose(errSilent)
		return
	}
	for kind := range p.lanes {
		p.lanes[kind].Sever(errSilent)
	}
}
