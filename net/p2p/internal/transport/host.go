package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	yamuxconfig "github.com/libp2p/go-yamux/v5"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/prometheus/client_golang/prometheus"
)

// Host is this node's end of all connections. It is made of libp2p's transports
// themselves, without a swarm: which connection there is, and when it is dialled, is
// the lanes' business, and so nothing stands between.
//
// Whoever dials says by the multiplexer it offers which lane the connection is for.
// Both are yamux, and differ in the sizes of windows and frames.
type Host struct {
	ids       []corepeer.ID
	gater     *gater
	listening transport.Transport
	dialling  [Kinds]transport.Transport
	probing   [Kinds]transport.Transport
	listener  transport.Listener
	manager   network.ResourceManager // nil: nobody wants to know
	tracer    tracer
}

// Options are what a host has to know.
type Options struct {
	Number, Nodes int
	Key           []byte
	Security      Security
	Private       bool                  // a network that is secret before a word is said
	Hello         time.Duration         // how long a connection may take to be secured
	Registerer    prometheus.Registerer // of libp2p's metrics, or nil
	Stranger      func()                // is told of each connection that is refused
	Talk          func() uint64         // is how many frames have come by control lanes
}

// Security is how streams are encrypted. All nodes of a run use the same.
type Security uint8

// The ways to encrypt. TLS is 1.2 to 1.6 times as fast for large blocks.
const (
	TLS Security = iota
	Noise
	LastSecurity = Noise
)

// probes are the multiplexers of probes, by the kind of connection that they are like.
var probes = [Kinds]protocol.ID{Control: "/orwl/probe/control/1.0.0", Data: "/orwl/probe/data/1.0.0"}

// muxers are those of the kinds.
var muxers = [Kinds]protocol.ID{Control: yamux.ID, Data: "/orwl/data/yamux/1.0.0"}

const (
	dataWindow = 16 << 20
	dataFrame  = 256 << 10
)

// multiplexer is that of one lane, under a name.
func multiplexer(kind Kind, name protocol.ID) upgrader.StreamMuxer {
	config := yamuxconfig.DefaultConfig()
	config.LogOutput = io.Discard
	config.ReadBufSize = 0         // the security below has a buffer
	config.EnableKeepAlive = false // nodes have their own heartbeats
	config.MaxIncomingStreams = 1  // a connection has one stream
	config.AcceptBacklog = 1
	config.MaxStreamWindowSize = dataWindow
	if kind == Data {
		config.InitialStreamWindowSize = dataWindow
		config.MaxMessageSize = dataFrame
	}
	return upgrader.StreamMuxer{ID: name, Muxer: (*yamux.Transport)(config)}
}

// New makes the host of a node. It does not listen yet.
func New(o Options) (*Host, error) {
	h := &Host{ids: identities(o.Key, o.Nodes), tracer: newTracer(o.Registerer)}
	var err error
	if h.manager, err = newManager(o.Registerer); err != nil {
		return nil, err
	}
	h.gater = &gater{numbers: make(map[corepeer.ID]int, o.Nodes), stranger: o.Stranger}
	for i, id := range h.ids {
		if i != o.Number {
			h.gater.numbers[id] = i
		}
	}
	private := identity(o.Key, o.Number)
	var all []upgrader.StreamMuxer
	for kind := range Kinds {
		m, probe := multiplexer(kind, muxers[kind]), multiplexer(kind, probes[kind])
		if kind == Data {
			m.Muxer = courtesy{m.Muxer, o.Talk}
		}
		all = append(all, m, probe)
		if h.dialling[kind], err = h.newTransport(o, private, []upgrader.StreamMuxer{m}); err != nil {
			return nil, err
		}
		if h.probing[kind], err = h.newTransport(o, private, []upgrader.StreamMuxer{probe}); err != nil {
			return nil, err
		}
	}
	h.listening, err = h.newTransport(o, private, all)
	return h, err
}

func (h *Host) newTransport(o Options, private crypto.PrivKey, muxers []upgrader.StreamMuxer) (transport.Transport, error) {
	var security sec.SecureTransport
	var err error
	if o.Security == Noise {
		security, err = noise.New(noise.ID, private, muxers)
	} else {
		security, err = libp2ptls.New(libp2ptls.ID, private, muxers)
	}
	if err != nil {
		return nil, fmt.Errorf("p2p: security of node %d: %w", o.Number, err)
	}
	var shared pnet.PSK
	if o.Private {
		shared = derive(o.Key, "orwl private network")
	}
	up, err := upgrader.New([]sec.SecureTransport{security}, muxers, shared, h.manager, h.gater, upgrader.WithAcceptTimeout(o.Hello))
	if err != nil {
		return nil, fmt.Errorf("p2p: upgrader of node %d: %w", o.Number, err)
	}
	// A port that others may share could be another run's.
	t, err := tcp.NewTCPTransport(up, h.manager, nil, tcp.DisableReuseport(), tcp.WithConnectionTimeout(o.Hello))
	if err != nil {
		return nil, fmt.Errorf("p2p: transport of node %d: %w", o.Number, err)
	}
	return t, nil
}

// Listen begins to listen and returns the address, as host:port.
func (h *Host) Listen(ctx context.Context, address string) (string, error) {
	at, err := resolve(ctx, address)
	if err != nil {
		return "", err
	}
	h.listener, err = h.listening.Listen(at[0])
	if err != nil {
		return "", fmt.Errorf("p2p: listening at %s: %w", address, err)
	}
	return h.listener.Addr().String(), nil
}

// Dial opens a connection to a node.
func (h *Host) Dial(ctx context.Context, number int, address string, kind Kind) (Conn, error) {
	return h.dialWith(ctx, h.dialling[kind], h.ids[number], address)
}

// DialProbe opens a connection that is like one of a kind, for a probe.
func (h *Host) DialProbe(ctx context.Context, number int, address string, kind Kind) (Conn, error) {
	return h.dialWith(ctx, h.probing[kind], h.ids[number], address)
}

// Accept is the next connection of another node, and that node's number. The gater has
// let it in.
func (h *Host) Accept() (Conn, int, error) {
	conn, err := h.listener.Accept()
	if err != nil {
		return Conn{}, 0, err
	}
	number, ok := h.gater.number(conn.RemotePeer())
	if !ok { // only if the gater was not asked
		number = -1
	}
	return h.conn(conn, network.DirInbound), number, nil
}

// Deafen ends Accept: nobody is let in any more.
func (h *Host) Deafen() { h.listener.Close() }

// Close ends what the host has of its own; its listener is closed by Deafen.
func (h *Host) Close() {
	if h.manager != nil {
		h.manager.Close()
	}
}

func (h *Host) dialWith(ctx context.Context, t transport.Transport, id corepeer.ID, address string) (Conn, error) {
	at, err := resolve(ctx, address)
	if err != nil {
		return Conn{}, err
	}
	var failures []error
	for _, a := range at {
		began := time.Now()
		conn, err := t.Dial(ctx, a, id)
		h.tracer.dialled(conn, a, time.Since(began), err, context.Cause(ctx))
		if err == nil {
			return h.conn(conn, network.DirOutbound), nil
		}
		failures = append(failures, err)
	}
	return Conn{}, errors.Join(failures...)
}

// OtherKey reports whether dialling failed because somebody listens there that is
// not the node that was dialled.
func OtherKey(err error) bool {
	var mismatch sec.ErrPeerIDMismatch
	return errors.As(err, &mismatch)
}

// resolve is what a host:port may mean.
func resolve(ctx context.Context, address string) ([]multiaddr.Multiaddr, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("p2p: address %q: %w", address, err)
	}
	if name == "" {
		name = "0.0.0.0"
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("p2p: address %q: the port is no number up to 65535", address)
	}
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip", name)
	if err != nil {
		return nil, fmt.Errorf("p2p: address %q: %w", address, err)
	}
	var all []multiaddr.Multiaddr
	for _, ip := range ips {
		a, err := manet.FromNetAddr(&net.TCPAddr{IP: ip, Port: int(n)})
		if err != nil {
			return nil, fmt.Errorf("p2p: address %q: %w", address, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// SeenFrom is the address of a node that listens at all its interfaces, for those who
// have seen it at the other end of a connection.
func SeenFrom(address string, remote multiaddr.Multiaddr) string {
	name, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(name); err != nil || name != "" && (ip == nil || !ip.IsUnspecified()) {
		return address
	}
	ip, err := manet.ToIP(remote)
	if err != nil {
		return address
	}
	return net.JoinHostPort(ip.String(), port)
}

// Expect has the host take an identity for that of a node: a test has it connect where
// it is a stranger.
func (h *Host) Expect(number int, of *Host) {
	h.ids[number] = of.ids[number]
	h.gater.numbers[of.ids[number]] = number
}
