package p2p

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/loan"
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
	// politeness is how long the node with the greater number leaves it to the
	// other to open a stream again that broke for both.
	politeness = 50 * time.Millisecond

	// refusals is how often in a row nobody may listen where a node was, and
	// how often a connection may be closed without a word, until that is believed.
	refusals = 2
	silences = 3
)

// errNoHello is a connection that was closed before anything was said.
var errNoHello = errors.New("p2p: connection closed without a word")

// connect sees to it that the lane gets a stream. l.mu is held.
func (l *lane) connect(pause time.Duration) {
	if l.calling || l.stream != nil || l.over != nil {
		return
	}
	l.calling = true
	l.node.group.Go(func() { l.call(pause) })
}

// patience is how long to wait before a stream that broke is opened again.
func (l *lane) patience() time.Duration {
	if l.node.number > l.peer.number {
		return politeness
	}
	return 0
}

// call dials until the lane has a stream, which the other side may have opened, or
// the peer is gone.
func (l *lane) call(pause time.Duration) {
	var d dialogue
	if l.kind != transport.Control { // without heartbeats nobody would notice a loss
		control := &l.peer.lanes[transport.Control]
		control.mu.Lock()
		control.connect(0)
		control.mu.Unlock()
	}
	for began := time.Now(); l.dials(pause); pause = min(max(firstPause, 2*pause), lastPause) {
		err := l.dial()
		l.mu.Lock()
		l.dialling = false
		l.mu.Unlock()
		if err == nil {
			d, pause = dialogue{}, 0
			continue
		}
		l.node.log.Debug("dial failed", "peer", l.peer.number, "lane", l.kind.String(), "why", err)
		if why := d.verdict(l.peer, err, time.Since(began)); why != nil {
			l.peer.lose(why)
		}
	}
}

// dials reports, after a pause, whether to dial. If not, nobody sees to it any more
// that the lane gets a stream: it has one, or needs none.
func (l *lane) dials(pause time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream == nil && l.over == nil && pause > 0 {
		attached := make(chan struct{})
		l.attached = attached
		l.mu.Unlock()
		l.peer.pause(pause, attached)
		l.mu.Lock()
	}
	l.dialling = l.stream == nil && l.over == nil && l.node.ctx.Err() == nil
	l.calling = l.dialling
	return l.dialling
}

// dialogue is what has come of dialling a node so far.
type dialogue struct{ refused, silent int }

// verdict is why nobody dials a node any more, after that has failed once more; nil if
// somebody does. A node that the launcher vouches for is dialled for as long as it takes:
// the heart knows whether it is lost.
func (d *dialogue) verdict(p *peer, err error, took time.Duration) error {
	p.failed(err)
	known := p.met.Load() || p.node.complete()
	_, vouched := p.witness()
	switch {
	case errors.Is(err, ErrRefused):
		return err
	case transport.OtherKey(err):
		return fmt.Errorf("whoever listens at %s is not node %d: %w", p.where(), p.number, ErrStranger)
	case errors.Is(err, syscall.ECONNREFUSED):
		if d.refused++; d.refused >= refusals && known {
			return fmt.Errorf("%w: %w", errGone, err)
		}
		d.silent = 0
		return nil
	case errors.Is(err, errNoHello) && !known:
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
func (l *lane) dial() error {
	n, p := l.node, l.peer
	ctx, cancel := context.WithTimeout(p.ctx, helloTimeout)
	defer cancel()
	conn, err := n.host.Dial(ctx, p.number, p.where(), l.kind)
	if err != nil {
		return err
	}
	if err := l.greet(ctx, conn); err != nil {
		conn.Close()
		return err
	}
	return nil
}

func (l *lane) greet(ctx context.Context, conn transport.Conn) error {
	n, p := l.node, l.peer
	raw, err := conn.Open(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoHello, err)
	}
	// A peer that is gone is not waited for.
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	said := n.now()
	l.mu.Lock()
	hello := l.hello()
	l.mu.Unlock()
	if _, err := raw.Write(hello.Append(nil)); err != nil {
		return fmt.Errorf("%w: %w", errNoHello, err)
	}
	s := l.newStream(conn, raw)
	head, body, err := s.in.Next()
	switch {
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("%w: %w", errNoHello, err)
	case err != nil:
		return err
	case head.Kind == wire.KindRefuse:
		var f wire.Refuse
		if err := f.Parse(body); err != nil {
			return err
		}
		return &RefusedError{By: p.number, Reason: f.Reason}
	case head.Kind != wire.KindHello:
		return protocolError("%v instead of hello", head.Kind)
	}
	var answer wire.Hello
	if err := answer.Parse(body); err != nil {
		return err
	}
	if reason := p.check(&answer, l.kind); reason != "" {
		return protocolError("hello: %s", reason)
	}
	if !stop() {
		return ctx.Err()
	}
	if err := l.attach(s, answer.Received, nil); err != nil {
		return err
	}
	p.greeted(l.kind, said, true)
	return nil
}

func (l *lane) newStream(conn transport.Conn, raw transport.Stream) *stream {
	return &stream{
		lane: l, conn: conn, raw: raw, ended: make(chan struct{}),
		in:     wire.NewInput(&counted{raw, &l.node.counts.BytesIn}, l.node.options.MaxBulk),
		spares: loan.NewSpares(l.node.hoard),
	}
}

// hello is what is said first on a stream. l.mu is held.
func (l *lane) hello() wire.Hello {
	n := l.node
	taken := l.link.Taken()
	if l.taking {
		taken-- // by who reads the old stream to its end; it is not settled
	}
	return wire.Hello{
		Version: wire.Version, Nodes: uint64(n.options.Nodes), Node: uint64(n.number),
		Incarnation: n.options.Incarnation, Lane: uint64(l.kind),
		Peer: l.peer.life(), Received: taken,
		Lease: uint64(n.options.Lease), Skew: uint64(n.options.Skew), Address: n.announced,
	}
}

// counted counts what is read.
type counted struct {
	r     io.Reader
	bytes *atomic.Uint64
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	k, err := c.r.Read(b)
	c.bytes.Add(uint64(k))
	return k, err
}
