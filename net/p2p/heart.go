package p2p

import (
	"time"
)

// heart sends this node's heartbeats, and watches the beats of other nodes. When a holder
// lets go, and when a home gives up, is a matter of package lease.
type heart struct {
	node   *Node
	nudged chan struct{}
	adrift int // the peers that were out of touch at the last look
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
	for _, p := range h.node.all() {
		if p != nil {
			p.contact.Forgive(late, h.node.now())
		}
	}
}

// beat says to every node that this node lives, and what it has taken.
func (h *heart) beat() {
	for _, p := range h.node.all() {
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
	adrift := 0
	for _, p := range h.node.all() {
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
		at, away := h.reach(p, now)
		if at > now {
			until = min(until, at)
		}
		if away {
			adrift++
		}
	}
	h.adrift = adrift
	return until
}

// home looks after what this node has lent to a peer, and returns when to do so again.
func (h *heart) home(p *peer, now int64) int64 {
	terms, heard := h.node.options.terms(), p.contact.Heard()
	if w, vouched := p.witness(); vouched && p.fate() == nil {
		was := p.tenure.Slow()
		if why := p.tenure.Look(terms, heard, w); why != nil {
			p.lapse(heard, why)
			return now
		}
		h.tell(p, was, p.tenure.Slow(), now-heard)
		return p.tenure.Next(terms, heard)
	}
	if p.contact.Lapsed(terms, now) {
		h.silent(p, heard)
	}
	return terms.GivesUp(heard)
}

// tell logs that a peer has become slow, or is no longer.
func (h *heart) tell(p *peer, was, slow bool, silence int64) {
	switch {
	case slow && !was:
		h.node.log.Warn("node is slow: its process runs, and nothing was heard of it for longer than the lease; give the nodes more processors",
			"peer", p.number, "silent", time.Duration(silence).Round(time.Millisecond).String())
	case was && !slow:
		h.node.log.Info("node is back", "peer", p.number)
	}
}

// holder looks after what a peer has lent to this node, and returns when to do so again.
func (h *heart) holder(p *peer, now int64) int64 {
	n, terms := h.node, h.node.options.terms()
	doubts := p.contact.Suspected(terms, now) && !p.kept()
	if was := p.doubted.Swap(doubts); doubts && !was {
		n.notices.put(func() { n.suspicion(p.number) })
	}
	return terms.LetsGo(p.contact.Echoed())
}

// silent ends a peer that was silent for too long. It also ends the streams
// of a peer that has left and has not closed them.
func (h *heart) silent(p *peer, heard int64) {
	if p.fate() == nil {
		p.lapse(heard, errSilent)
		return
	}
	for kind := range p.lanes {
		p.lanes[kind].Sever(errSilent)
	}
}
