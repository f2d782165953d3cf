package p2p

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

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
