package p2p

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

const (
	// mostPending is how many connections of one node may be about to say hello.
	mostPending = 8
	// lastWords is how long a refused node has to read why.
	lastWords = time.Second
)

// accept takes connections until the host is closed. All are of nodes of the run: the
// gater has seen to that.
func (n *Node) accept() {
	for {
		conn, number, err := n.host.Accept()
		if err != nil {
			return
		}
		n.group.Go(func() {
			if conn.Joins() {
				n.takeJoin(conn, number)
			} else if err := n.admit(conn, number); err != nil {
				n.log.Debug("connection not taken", "from", conn.Remote().String(), "why", err)
				conn.Close()
			}
		})
	}
}

// admit takes a connection for the lane it says it is for. If there is an error, it is
// still the caller's.
func (n *Node) admit(conn *transport.Conn, number int) error {
	p := n.peer(number)
	defer p.pending.Add(-1)
	if p.pending.Add(1) > mostPending {
		return errors.New("p2p: too many connections at once")
	}
	ctx, cancel := context.WithTimeout(n.ctx, helloTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	said := n.now()
	l, s, hello, err := p.hear(conn)
	if err != nil {
		p.misheard(err)
		return err
	}
	if n.complete() && hello.Incarnation > p.life() && hello.Peer == n.options.Incarnation {
		// The epoch with that life has not come here, or its peer is not there yet.
		n.awaitLife(number, hello.Incarnation, helloTimeout)
		p = n.peer(number)
		l = &p.lanes[l.Kind()]
		s = l.Stream(conn) // no byte has followed the hello
	}
	if n.options.Late && hello.Peer != 0 && hello.Peer != n.options.Incarnation && p.unlike(&hello) == "" {
		// It means the life before, which has ended: see greet.
		answer := p.hello(l.Kind(), 0)
		lasts(conn, answer.Append(nil))
		return errBefore
	}
	if reason := p.check(&hello, l.Kind()); reason != "" {
		if n.complete() && n.closing.Load() {
			return ErrClosed // a refusal would say that this process goes on without the peer
		}
		n.counts.Refused.Add(1)
		n.log.Info("node refused", "peer", number, "from", conn.Remote().String(), "why", reason)
		refuse(conn, reason)
		return fmt.Errorf("%w: %s", ErrRefused, reason)
	}
	if l.Kind() == transport.Control {
		p.listens(hello.Address, conn.Remote())
	}
	if !l.Yields() {
		return errors.New("p2p: the stream that this side is opening comes first")
	}
	if !stop() {
		return ctx.Err()
	}
	conn.SetDeadline(time.Now().Add(helloTimeout))
	err = l.Attach(s, hello.Received, func(taken uint64) error {
		if err := p.answers(); err != nil {
			return err
		}
		answer := p.hello(l.Kind(), taken)
		_, err := conn.Write(answer.Append(nil))
		return err
	})
	if err != nil {
		if hello.Received >= l.Next() {
			p.misheard(err) // it counts frames that there never were
		}
		return err
	}
	p.greeted(l.Kind(), said, false)
	return nil
}

// hear reads the hello of a node that has opened a stream.
func (p *peer) hear(conn *transport.Conn) (l *lane.Lane, s *lane.Stream, hello wire.Hello, err error) {
	l = &p.lanes[transport.Control]
	if conn.Kind() == transport.Data {
		l = &p.lanes[transport.Data]
	}
	s = l.Stream(conn)
	hello, err = heard(s.Next())
	return l, s, hello, err
}

// heard reads the hello that a stream begins with.
func heard(head wire.Head, body wire.Reader, err error) (hello wire.Hello, _ error) {
	if err == nil && head.Kind != wire.KindHello {
		err = protocolError("%v instead of hello", head.Kind)
	}
	if err == nil {
		err = hello.Parse(body)
	}
	return hello, err
}

// refuse tells the other side why.
func refuse(raw transport.Stream, reason string) {
	f := wire.Refuse{Reason: reason}
	lasts(raw, f.Append(nil))
}

// lasts writes the last words on a stream, and waits until the other side has closed, for what is
// closed here is lost on its way.
func lasts(raw transport.Stream, words []byte) {
	raw.SetDeadline(time.Now().Add(lastWords))
	if _, err := raw.Write(words); err != nil {
		return
	}
	var nothing [512]byte
	for {
		if _, err := raw.Read(nothing[:]); err != nil {
			return
		}
	}
}

// seldom is the least time between two lines of the log about strangers: a stranger that
// can connect must not fill a disk.
const seldom = 10 * time.Second

// strangers counts connections from outside the run, and tells of them now and then.
type strangers struct {
	counts *Counts
	log    *slog.Logger

	mu   sync.Mutex
	said time.Time // when the last line was
	more int       // how many came since then
}

// note counts a connection from outside the run, which was closed.
func (s *strangers) note(address string) {
	s.counts.Strangers.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more++
	if now := time.Now(); now.Sub(s.said) >= seldom {
		s.log.Warn("connection from outside the run closed", "from", address, "since the last line", s.more)
		s.said, s.more = now, 0
	}
}

// Stream is the connection of a session to a node: a process that has the key of the run, and is
// none of its nodes. Bytes arrive in order, as long as it lives.
type Stream = node.Stream

// Admit lets sessions connect to this node, and calls take with the stream of each, in a
// goroutine of its own. take's streams end when the node is closed. Without Admit, sessions are
// strangers.
func (n *Node) Admit(take func(Stream)) {
	n.host.Admit(func(c *transport.Conn) { take(c) })
}

// SessionOptions say to which node a session connects.
type SessionOptions struct {
	// Address is where any node of the run listens. Required.
	Address string
	// Key is the key of the run, nil if it has none.
	Key []byte
	// Carrier is the run's.
	Carrier Carrier
}

// DialSession connects to a node of a run, from a process that is none of its nodes. An error
// that matches ErrStranger says that a process of another run, or with another key, is there.
func DialSession(ctx context.Context, o SessionOptions) (Stream, error) {
	if o.Key != nil && len(o.Key) < leastKey {
		return nil, fmt.Errorf("p2p: SessionOptions.Key has %d bytes, want at least %d", len(o.Key), leastKey)
	}
	if err := transport.CheckAddress(o.Address); err != nil {
		return nil, fmt.Errorf("p2p: SessionOptions.Address is %q, want host:port: %w", o.Address, err)
	}
	c, err := transport.DialSession(ctx, transport.Options{Key: o.Key, Carrier: o.Carrier, Hello: helloTimeout}, o.Address)
	switch {
	case err == nil:
		return c, nil
	case transport.OtherKey(err):
		return nil, fmt.Errorf("the process at %s has another key: %w", o.Address, ErrStranger)
	case errors.Is(err, transport.ErrNoHello):
		return nil, fmt.Errorf("the node at %s closes the connection without a word: it takes no sessions, or has another key: %w", o.Address, err)
	}
	return nil, fmt.Errorf("p2p: session with %s: %w", o.Address, err)
}
