package p2p

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

const (
	// helloTimeout is how long the other side may take to say hello. It is long,
	// because many nodes may be starting on one machine; a node that was once there
	// is given up sooner, by its silence.
	helloTimeout = 10 * time.Second

	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond

	// refusals is how often in a row a node's address may refuse connections, and
	// how often a connection may be closed without a word, until that is believed.
	refusals = 2
	silences = 3
)

// Call implements lane.Peer.
func (p *peer) Call(kind transport.Kind, pause time.Duration) {
	p.node.group.Go(func() { p.call(&p.lanes[kind], pause) })
}

// call dials until the lane has a stream, which the other side may have opened, or
// the peer is gone.
func (p *peer) call(l *lane.Lane, pause time.Duration) {
	var d dialogue
	if l.Kind() != transport.Control { // without heartbeats no loss would be noticed
		p.lanes[transport.Control].Connect()
	}
	for began := time.Now(); l.Dials(pause); pause = min(max(firstPause, 2*pause), lastPause) {
		err := p.dial(l)
		l.Dialled()
		if err == nil {
			d, pause = dialogue{}, 0
			continue
		}
		p.node.log.Debug("dial failed", "peer", p.number, "lane", l.Kind().String(), "why", err)
		if why := d.verdict(p, err, time.Since(began)); why != nil {
			p.lose(why)
		}
	}
}

// dialogue is what has come of dialling a node so far.
type dialogue struct{ refused, silent int }

// verdict is why a node is not dialled again, after that has failed once more; nil if it
// is dialled again. A node that the launcher vouches for is dialled for as long as it takes:
// the heart knows whether it is lost.
func (d *dialogue) verdict(p *peer, err error, took time.Duration) error {
	p.failed(err)
	known := p.met.Load() || p.node.complete()
	_, vouched := p.witness()
	switch {
	case isAny(err, ErrRefused, errBefore):
		return err
	case transport.OtherKey(err):
		return fmt.Errorf("the process that listens at %s is not node %d: %w", p.where(), p.number, ErrStranger)
	case isAny(err, syscall.ECONNREFUSED, transport.ErrNobody):
		if d.refused++; d.refused >= refusals && known {
			return fmt.Errorf("%w: %w", errGone, err)
		}
		d.silent = 0
		return nil
	case errors.Is(err, transport.ErrNoHello) && !known:
		if d.silent++; d.silent >= silences {
			return fmt.Errorf("node %d at %s closes the connection without a word: %w", p.number, p.where(), ErrStranger)
		}
	case took > p.node.options.JoinTimeout && known && !vouched:
		return fmt.Errorf("%w for %v: %w", errNobody, took.Round(time.Millisecond), err)
	}
	d.refused = 0
	return nil
}

// dial opens a connection and a stream, and says hello. If the other side does too,
// the lane has the stream.
func (p *peer) dial(l *lane.Lane) error {
	ctx, cancel := context.WithTimeout(p.ctx, helloTimeout)
	defer cancel()
	conn, err := p.node.host.Dial(ctx, p.number, p.where(), l.Kind())
	if err != nil {
		return err
	}
	if !l.Vacant() { // see reach
		conn.Close()
		return nil
	}
	if err := p.greet(ctx, l, conn); err != nil {
		conn.Close()
		return err
	}
	return nil
}

func (p *peer) greet(ctx context.Context, l *lane.Lane, raw *transport.Conn) error {
	// A peer that is gone is not waited for.
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	said := p.node.now()
	hello := p.hello(l.Kind(), l.Taken())
	if _, err := raw.Write(hello.Append(nil)); err != nil {
		return fmt.Errorf("%w: %w", transport.ErrNoHello, err)
	}
	s := l.Stream(raw)
	head, body, err := s.Next()
	switch {
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("%w: %w", transport.ErrNoHello, err)
	case err != nil:
		return err
	}
	answer, err := p.answered(head, body)
	if err != nil {
		return err
	}
	if life := p.life(); life != 0 && answer.Incarnation > life && p.unlike(&answer) == "" {
		return fmt.Errorf("%w: %w", errEnded, errBefore) // a later life has its address
	}
	if reason := p.check(&answer, l.Kind()); reason != "" {
		return protocolError("hello: %s", reason)
	}
	if !stop() {
		return ctx.Err()
	}
	if err := l.Attach(s, answer.Received, nil); err != nil {
		return err
	}
	p.greeted(l.Kind(), said, true)
	return nil
}

// answered reads the answer to a hello: a hello, or why this node is refused.
func (p *peer) answered(head wire.Head, body wire.Reader) (answer wire.Hello, err error) {
	switch head.Kind {
	case wire.KindHello:
		err := answer.Parse(body)
		return answer, err
	case wire.KindRefuse:
		var f wire.Refuse
		if err := f.Parse(body); err != nil {
			return answer, err
		}
		return answer, &RefusedError{By: p.number, Reason: f.Reason}
	}
	return answer, protocolError("%v instead of hello", head.Kind)
}

// hello is what is said first on a stream of a lane, which has taken so many frames.
func (p *peer) hello(kind transport.Kind, taken uint64) wire.Hello {
	n := p.node
	return wire.Hello{
		Version: wire.Version, Nodes: uint64(n.options.Nodes), Node: uint64(n.number),
		Incarnation: n.options.Incarnation, Lane: uint64(kind),
		Peer: p.life(), Received: taken,
		Lease: uint64(n.options.Lease), Skew: uint64(n.options.Skew), Address: n.announced,
	}
}
