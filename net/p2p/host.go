package p2p

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"
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
)

// host is this node's end of all connections. It is made of libp2p's transports
// themselves, without a swarm: which connection there is, and when it is dialled, is
// the lanes' business, and so nothing stands between.
//
// Whoever dials says by the multiplexer it offers which lane the connection is for.
// Both are yamux, and differ in the sizes of windows and frames.
type host struct {
	ids       []corepeer.ID
	gater     *gater
	listening transport.Transport
	dialling  [laneKinds]transport.Transport
	probing   [laneKinds]transport.Transport
	listener  transport.Listener
	manager   network.ResourceManager // nil: nobody wants to know
	tracer    tracer
	counts    *Counts
	bulky     atomic.Uint64 // frames that came by data lanes
}

// talk is how many frames have come by control lanes.
func (h *host) talk() uint64 { return h.counts.FramesIn.Load() - h.bulky.Load() }

// muxers are those of the lanes.
var muxers = [laneKinds]protocol.ID{controlLane: yamux.ID, dataLane: "/orwl/data/yamux/1.0.0"}

const (
	dataWindow = 16 << 20
	dataFrame  = 256 << 10
)

// multiplexer is that of one lane, under a name.
func multiplexer(lane laneKind, name protocol.ID) upgrader.StreamMuxer {
	config := yamuxconfig.DefaultConfig()
	config.LogOutput = io.Discard
	config.ReadBufSize = 0         // the security below has a buffer
	config.EnableKeepAlive = false // nodes have their own heartbeats
	config.MaxIncomingStreams = 1  // a connection has one stream
	config.AcceptBacklog = 1
	config.MaxStreamWindowSize = dataWindow
	if lane == dataLane {
		config.InitialStreamWindowSize = dataWindow
		config.MaxMessageSize = dataFrame
	}
	return upgrader.StreamMuxer{ID: name, Muxer: (*yamux.Transport)(config)}
}

// newHost makes the host of a node. It does not listen yet.
func newHost(o Options) (*host, error) {
	h := &host{ids: identities(o.Key, o.Nodes), tracer: newTracer(o.Registerer), counts: o.Counts}
	var err error
	if h.manager, err = newManager(o.Registerer); err != nil {
		return nil, err
	}
	h.gater = &gater{numbers: make(map[corepeer.ID]int, o.Nodes), counts: o.Counts}
	for i, id := range h.ids {
		if i != o.Number {
			h.gater.numbers[id] = i
		}
	}
	private := identity(o.Key, o.Number)
	var all []upgrader.StreamMuxer
	for lane := range laneKinds {
		m, probe := multiplexer(lane, muxers[lane]), multiplexer(lane, probes[lane])
		if lane == dataLane {
			m.Muxer = courtesy{m.Muxer, h.talk}
		}
		all = append(all, m, probe)
		if h.dialling[lane], err = h.newTransport(o, private, []upgrader.StreamMuxer{m}); err != nil {
			return nil, err
		}
		if h.probing[lane], err = h.newTransport(o, private, []upgrader.StreamMuxer{probe}); err != nil {
			return nil, err
		}
	}
	h.listening, err = h.newTransport(o, private, all)
	return h, err
}

func (h *host) newTransport(o Options, private crypto.PrivKey, muxers []upgrader.StreamMuxer) (transport.Transport, error) {
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
	up, err := upgrader.New([]sec.SecureTransport{security}, muxers, shared, h.manager, h.gater, upgrader.WithAcceptTimeout(helloTimeout))
	if err != nil {
		return nil, fmt.Errorf("p2p: upgrader of node %d: %w", o.Number, err)
	}
	// A port that others may share could be another run's.
	t, err := tcp.NewTCPTransport(up, h.manager, nil, tcp.DisableReuseport(), tcp.WithConnectionTimeout(helloTimeout))
	if err != nil {
		return nil, fmt.Errorf("p2p: transport of node %d: %w", o.Number, err)
	}
	return t, nil
}

// listen begins to listen and returns the address, as host:port.
func (h *host) listen(ctx context.Context, address string) (string, error) {
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

// dial opens a connection to a node for a lane.
func (h *host) dial(ctx context.Context, number int, address string, lane laneKind) (transport.CapableConn, error) {
	return h.dialWith(ctx, h.dialling[lane], h.ids[number], address)
}

// close ends what the host has of its own; its listener is closed by whoever listens.
func (h *host) close() {
	if h.manager != nil {
		h.manager.Close()
	}
}

func (h *host) dialWith(ctx context.Context, t transport.Transport, id corepeer.ID, address string) (transport.CapableConn, error) {
	at, err := resolve(ctx, address)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, a := range at {
		began := time.Now()
		conn, err := t.Dial(ctx, a, id)
		h.tracer.dialled(conn, a, time.Since(began), err, context.Cause(ctx))
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// otherKey reports whether dialling failed because somebody listens there that is
// not the node that was dialled.
func otherKey(err error) bool {
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

// seenFrom is the address of a node that listens at all its interfaces, for those who
// have seen it at the other end of a connection.
func seenFrom(address string, remote multiaddr.Multiaddr) string {
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
