package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multistream"
	"github.com/prometheus/client_golang/prometheus"
)

// Host is this node's end of all connections: a libp2p host, made here or by the user,
// on which lanes are streams of protocols with names.
//
// A lane has a connection of its own, so that a large block does not stand before a small
// frame. libp2p's swarm keeps one connection to a peer when it dials. So the swarm dials
// the first connection, and the host dials others itself, by the swarm's own transports.
// The swarm at the other end accepts both and sees no difference.
type Host struct {
	host.Host
	own      *assembled // nil if the user has made it
	quic     bool       // the port of an address is for QUIC, not for TCP
	ids      []corepeer.ID
	gater    *gater
	incoming chan *Conn
	deaf     chan struct{}
}

// protocols are the names of the lanes.
var protocols = [Kinds]protocol.ID{Control: "/orwl/control/1", Data: "/orwl/data/1"}

// joinProtocol is the name of the stream of a node that wants to come back.
const joinProtocol protocol.ID = "/orwl/join/1"

// New makes the host of a node, or takes the user's. It does not listen yet.
func New(o Options) (*Host, error) {
	h := &Host{ids: identities(o.Key, o.Nodes), quic: o.Carrier.QUIC != nil, incoming: make(chan *Conn), deaf: make(chan struct{})}
	h.gater = newGater(h.ids, o.Number, o.Stranger)
	h.gater.session = sessionID(o.Key)
	if o.User != nil {
		if o.User.ID() != h.ids[o.Number] {
			return nil, fmt.Errorf("%w than node %d of this run: make it with libp2p.Identity(p2p.Identity(key, %d))", ErrIdentity, o.Number, o.Number)
		}
		h.Host = o.User
	} else {
		h.gater.pending = newPending(o)
		own, err := assemble(o, Identity(o.Key, o.Number), h.gater)
		if err != nil {
			return nil, err
		}
		h.own, h.Host = own, own.Host
	}
	return h, nil
}

// Listen begins to take streams, and returns the address at which others reach this
// node. A host of the user listens already, wherever it likes.
func (h *Host) Listen(ctx context.Context, address string) (string, error) {
	// The handlers are set before a peer can connect.
	for _, name := range append(protocols[:], joinProtocol) {
		h.SetStreamHandler(name, h.take)
	}
	if h.own == nil {
		all := h.Addrs()
		if len(all) == 0 {
			return "", errors.New("p2p: Options.Host listens nowhere: give it an address, for instance by libp2p.ListenAddrStrings")
		}
		return List(all), nil
	}
	at, err := resolve(ctx, address, h.quic)
	if err != nil {
		return "", fmt.Errorf("%w: listen at an address of this machine, such as 127.0.0.1:0", err)
	}
	if err := h.Network().Listen(at[0]); err != nil {
		return "", fmt.Errorf("p2p: listening at %s: %w", address, listening(err))
	}
	is, err := HostPort(h.Network().ListenAddresses()[0])
	if err != nil {
		return "", fmt.Errorf("p2p: listening at %s: %w", address, err)
	}
	return is, nil
}

// ErrTaken is an address at which another process listens.
var ErrTaken = errors.New("another process listens there: end it, or choose another port")

// listening is why a node cannot listen, and what to do about it. The swarm keeps only the texts of the errors.
func listening(err error) error {
	is := func(e syscall.Errno) bool { return strings.Contains(err.Error(), e.Error()) }
	switch {
	case is(syscall.EADDRINUSE):
		return ErrTaken
	case is(syscall.EADDRNOTAVAIL):
		return errors.New("this machine has no such address: choose one that it has, or 0.0.0.0")
	case is(syscall.EACCES):
		return errors.New("this user may not listen there: choose a port above 1023")
	}
	return err
}

// Loopback reports whether the host can be reached from this machine only.
func (h *Host) Loopback() bool {
	for _, a := range h.Addrs() {
		if !manet.IsIPLoopback(a) {
			return false
		}
	}
	return true
}

// take takes a stream that another node has opened.
func (h *Host) take(s network.Stream) {
	if _, ok := h.gater.number(s.Conn().RemotePeer()); !ok { // a host of the user lets in others, too
		h.gater.stranger(s.Conn().RemoteMultiaddr().String())
		_ = s.Reset() // it is over anyway
		return
	}
	select {
	case h.incoming <- h.conn(s):
	case <-h.deaf:
		_ = s.Reset() // it is over anyway
	}
}

// conn is a stream of the swarm. Its connection ends with it, if the host is our own.
func (h *Host) conn(s network.Stream) *Conn {
	return &Conn{s, s.Conn().RemotePeer(), s.Protocol(), s.Conn().RemoteMultiaddr(), func() {
		_ = s.Reset() // it is over anyway
		if h.own != nil {
			_ = s.Conn().Close() // the connection is over, too
		}
	}}
}

// Accept is the next stream of another node, and that node's number.
func (h *Host) Accept() (*Conn, int, error) {
	select {
	case c := <-h.incoming:
		number, _ := h.gater.number(c.peer)
		return c, number, nil
	case <-h.deaf:
		return nil, 0, ErrDeaf
	}
}

// Deafen ends Accept: the host takes no more streams. Call it once.
func (h *Host) Deafen() {
	close(h.deaf)
	for kind := range Kinds {
		h.RemoveStreamHandler(protocols[kind])
	}
	h.RemoveStreamHandler(sessionProtocol)
	h.RemoveStreamHandler(joinProtocol)
}

// DialJoin opens the stream of a node that wants to come back.
func (h *Host) DialJoin(ctx context.Context, number int, address string) (*Conn, error) {
	at, err := resolve(ctx, address, h.quic)
	if err != nil {
		return nil, err
	}
	return h.beside(ctx, h.ids[number], at, Control, joinProtocol)
}

// Close ends a host of our own.
func (h *Host) Close() error {
	if h.own == nil {
		return nil
	}
	return h.own.Close()
}

// Dial opens a stream of a lane to a node.
func (h *Host) Dial(ctx context.Context, number int, address string, kind Kind) (*Conn, error) {
	at, err := resolve(ctx, address, h.quic)
	if err != nil {
		return nil, err
	}
	if kind == Control && len(h.Network().ConnsToPeer(h.ids[number])) == 0 {
		if s, err := h.first(ctx, h.ids[number], at, protocols[kind]); s != nil || err != nil {
			return s, err
		}
	}
	return h.beside(ctx, h.ids[number], at, kind, protocols[kind])
}

// DialBeside opens a stream of a lane on a connection of its own. Several may be dialled at a
// time, which the swarm would make one of.
func (h *Host) DialBeside(ctx context.Context, number int, address string, kind Kind) (*Conn, error) {
	at, err := resolve(ctx, address, h.quic)
	if err != nil {
		return nil, err
	}
	return h.beside(ctx, h.ids[number], at, kind, protocols[kind])
}

// addressTTL is for how long the swarm keeps an address once it has dialled.
const addressTTL = time.Minute

// first has the swarm dial, and opens a stream. It returns nothing if the peer has dialled
// meanwhile: that connection is for a lane of the peer.
func (h *Host) first(ctx context.Context, id corepeer.ID, at []multiaddr.Multiaddr, name protocol.ID) (*Conn, error) {
	if s, ok := h.Network().(interface{ Backoff() *swarm.DialBackoff }); ok {
		s.Backoff().Clear(id) // a peer that was not up yet is dialled again at once
	}
	h.gater.dialOnly(id, at)
	// When an older connection ends, and when the peer names its own addresses, libp2p forgets others. It forgets no
	// permanent ones.
	h.Peerstore().SetAddrs(id, at, peerstore.PermanentAddrTTL)
	conn, err := h.Network().DialPeer(ctx, id)
	h.Peerstore().SetAddrs(id, at, addressTTL)
	if err != nil {
		return nil, causes(err)
	}
	if conn.Stat().Direction != network.DirOutbound {
		return nil, nil
	}
	s, err := conn.NewStream(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNoHello, err)
	} else if err = named(ctx, s, name); err == nil {
		err = s.SetProtocol(name)
	}
	if err != nil {
		_ = conn.Close() // it is of no use
		return nil, err
	}
	return h.conn(s), nil
}

// causes is why a swarm could not dial: its own error has a line for each address.
func causes(err error) error {
	var dial *swarm.DialError
	if !errors.As(err, &dial) || len(dial.DialErrors) == 0 {
		return err
	}
	all := make([]error, len(dial.DialErrors))
	for i := range all {
		all[i] = dial.DialErrors[i].Cause
	}
	return errors.Join(all...)
}

// beside dials a connection that the swarm does not keep, and opens a stream.
func (h *Host) beside(ctx context.Context, id corepeer.ID, at []multiaddr.Multiaddr, kind Kind, name protocol.ID) (*Conn, error) {
	var failures []error
	for _, a := range at {
		t := h.dialler(a, kind)
		if t == nil {
			failures = append(failures, fmt.Errorf("p2p: the host has no transport for %v", a))
			continue
		}
		conn, err := t.Dial(ctx, a, id)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		s, err := conn.OpenStream(ctx)
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrNoHello, err)
		} else {
			err = named(ctx, s, name)
		}
		if err != nil {
			_ = conn.Close() // it is of no use
			return nil, err
		}
		go refuseAll(conn)
		return &Conn{Stream: s, name: protocols[kind], remote: conn.RemoteMultiaddr(), end: func() { _ = conn.Close() }}, nil
	}
	return nil, errors.Join(failures...)
}

// dialler is the transport for a second connection; nil if there is none.
func (h *Host) dialler(a multiaddr.Multiaddr, kind Kind) transport.Transport {
	if h.own != nil {
		return h.own.dialling[kind]
	}
	if s, ok := h.Network().(interface {
		TransportForDialing(multiaddr.Multiaddr) transport.Transport
	}); ok {
		return s.TransportForDialing(a)
	}
	return nil
}

// named says which protocol a stream is of, and hears that the other side has it.
func named(ctx context.Context, s network.MuxedStream, name protocol.ID) error {
	defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
	_, err := multistream.SelectOneOf([]protocol.ID{name}, s)
	var not multistream.ErrNotSupported[protocol.ID]
	if errors.As(err, &not) {
		return ErrNobody
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoHello, err)
	}
	return nil
}

// refuseAll refuses the streams that the other side opens on a connection that only we
// use: its identify, for instance.
func refuseAll(conn transport.CapableConn) {
	for {
		s, err := conn.AcceptStream()
		if err != nil {
			return
		}
		_ = s.Reset() // which is the answer
	}
}

// OtherKey reports whether dialling failed because another process than
// the node listens there.
func OtherKey(err error) bool {
	var mismatch sec.ErrPeerIDMismatch
	return errors.As(err, &mismatch)
}

// Options are what a host has to know.
type Options struct {
	Number, Nodes int
	Key           []byte
	Carrier       Carrier               // of a host of our own
	Private       bool                  // a network that is secret before a word is said: of candidates
	Hello         time.Duration         // how long a connection may take to be secured
	Registerer    prometheus.Registerer // of libp2p's metrics, or nil
	Stranger      func(address string)  // is told of each connection from outside the run, which is closed
	Talk          func() uint64         // is how many frames have come by control lanes
	User          host.Host             // the user's own host, or nil
}

// Match the errors of a host by these.
var (
	// ErrNoHello is a connection that was closed before anything was said.
	ErrNoHello = errors.New("p2p: connection closed without a word")
	// ErrNobody is a host on which no node takes streams.
	ErrNobody = errors.New("p2p: no node is on the host")
	// ErrDeaf is the error of Accept after Deafen.
	ErrDeaf = errors.New("p2p: the host takes no more streams")
	// ErrIdentity is a host of the user that has another identity than the node.
	ErrIdentity = errors.New("p2p: the host has another identity")
)

// Kind says what a connection is for.
type Kind uint8

// The kinds. A connection of each leads from one node to another.
const (
	Control Kind = iota // small frames: the default windows and frames of yamux
	Data                // bulk: large ones
	Kinds
)

func (k Kind) String() string { return [...]string{"control", "data"}[k] }

// Conn is a stream to another node, and the connection that it is on. A connection
// carries one stream of ours.
type Conn struct {
	Stream
	peer   corepeer.ID
	name   protocol.ID
	remote multiaddr.Multiaddr
	end    func()
}

// Stream is what a lane needs of a stream.
type Stream interface {
	io.Reader
	io.Writer
	SetDeadline(t time.Time) error
	// CloseWrite ends the direction to the other side, which reads everything before it.
	CloseWrite() error
}

// Kind is what the stream is for: the node that has dialled says so.
func (c *Conn) Kind() Kind {
	if c.name == protocols[Data] {
		return Data
	}
	return Control
}

// Joins reports whether the other side is a node that wants to come back.
func (c *Conn) Joins() bool { return c.name == joinProtocol }

// Remote is the address at the other end.
func (c *Conn) Remote() multiaddr.Multiaddr { return c.remote }

// Close ends the stream, and the connection if it is ours.
func (c *Conn) Close() { c.end() }

// quietTCP is TCP whose listeners say that they were closed. libp2p's listeners end with another
// error if they are closed just when they have accepted a connection. Its swarm does not know that
// error, and writes a line to standard error.
type quietTCP struct{ *tcp.TcpTransport }

// Listen implements transport.Transport.
func (t quietTCP) Listen(at multiaddr.Multiaddr) (transport.Listener, error) {
	l, err := t.TcpTransport.Listen(at)
	if err != nil {
		return nil, err
	}
	return &quietListener{Listener: l}, nil
}

type quietListener struct {
	transport.Listener
	closed atomic.Bool
}

// Accept implements transport.Listener.
func (l *quietListener) Accept() (transport.CapableConn, error) {
	c, err := l.Listener.Accept()
	if err != nil && l.closed.Load() {
		err = transport.ErrListenerClosed
	}
	return c, err
}

// Close implements transport.Listener.
func (l *quietListener) Close() error {
	l.closed.Store(true)
	return l.Listener.Close()
}
