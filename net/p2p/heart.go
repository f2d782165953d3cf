package p2p

import (
	"context"
	"errors"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
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
		if p.loss() == nil {
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
		if p.loss() != nil {
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
	if w, vouched := p.witness(); vouched && p.loss() == nil {
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
	if p.loss() == nil {
		p.lapse(heard, errSilent)
		return
	}
	for kind := range p.lanes {
		p.lanes[kind].Sever(errSilent)
	}
}

// When the network is cut off for a second, the stream of heartbeats stays silent for longer.
// TCP sends again what was lost after 0.2 s, 0.6 s, 1.4 s and 3 s, and QUIC does likewise. So
// the outage is over, and the lease is, too. TCP_RTO_MAX_MS takes no less than a second.
//
// So a node that has had no echo for a while dials again, beside the stream that it has, and
// does so at a steady pace: see lease.Terms.Pace. The first connection on which the peer says
// hello takes the place of the stream. The link keeps what was not acknowledged, so nothing
// is lost and nothing comes twice.
//
//	stream       ──beat──▶ ╳      ╳           ╳                         ╳ (again)
//	outage                 ├──────────────────────────────┤
//	tries                              ╳  ╳  ╳  ╳  ╳  ╳  ╳  hello ──▶ the new stream
//
// Between nodes of one launcher there is no network, and a silent node is busy.

// mostTries is how many tries to reach a peer may be under way.
const mostTries = 8

// reach tries to reach the peer if it is time for that. It returns when to do so again, and
// whether the peer is out of touch.
func (h *heart) reach(p *peer, now int64) (at int64, adrift bool) {
	terms := h.node.options.terms()
	at = p.contact.Stalls(terms)
	if h.node.options.Launched || now < at {
		return at, false
	}
	if now >= p.reaches {
		p.reaches = now + int64(terms.Pace(h.adrift))
		if p.trying.Add(1) <= mostTries {
			h.node.group.Go(p.try)
		} else {
			p.trying.Add(-1)
		}
	}
	return p.reaches, true
}

// try dials the peer once, beside the stream that there is.
func (p *peer) try() {
	defer p.trying.Add(-1)
	ctx, cancel := context.WithTimeout(p.ctx, p.node.options.terms().Try())
	defer cancel()
	conn, err := p.node.host.DialBeside(ctx, p.number, p.where(), transport.Control)
	if err == nil {
		if err = p.replace(ctx, conn); err != nil {
			conn.Close()
		}
	}
	switch {
	case err == nil:
		p.node.log.Info("node is reached by a new connection", "peer", p.number)
	case isAny(err, ErrRefused, errBefore):
		p.lose(err)
	default:
		p.node.log.Debug("node is not reached", "peer", p.number, "why", err)
	}
}

// errInTime ends a try because the peer was in touch before.
var errInTime = errors.New("p2p: the stream carries again")

// replace says hello on a new connection, in the place of the stream.
func (p *peer) replace(ctx context.Context, conn *transport.Conn) error {
	l := &p.lanes[transport.Control]
	if p.node.now() < p.contact.Stalls(p.node.options.terms()) || !l.Replaces() {
		return errInTime
	}
	defer l.Replaced()
	return p.greet(ctx, l, conn)
}

// neighbour is a lease.Witness of a peer whose arena this node maps.
type neighbour struct {
	*peer
	arena *loan.Mapping
}

// witness is how this node sees the peer's process, if the launcher vouches for it.
func (p *peer) witness() (neighbour, bool) {
	m := p.mapping.Load()
	return neighbour{p, m}, m != nil && p.node.options.Launched
}

func (n neighbour) Now() int64                { return n.node.now() }
func (n neighbour) Condition() loan.Condition { return n.arena.Condition() }

func (n neighbour) Give(notice bool) {
	if a := n.node.memory.Arena(); a != nil { // without an arena the peer has no promise
		a.Notify(n.number, notice)
	}
}

// kept reports whether a peer that sends no echo keeps its word that it gives
// this node notice first, and has given none.
func (p *peer) kept() bool { return p.promised() && p.loss() == nil }

// promised is the same for a peer that may have ended.
func (p *peer) promised() bool {
	m := p.mapping.Load()
	return p.promises.Load() && m != nil && m.Keeps()
}
