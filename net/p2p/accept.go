package p2p

import (
	"context"
	"errors"
	"fmt"
	"time"

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
			if conn.Knocks() {
				n.knocked(conn, number)
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
