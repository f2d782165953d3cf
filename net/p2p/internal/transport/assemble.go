package transport

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/core/transport"
	blankhost "github.com/libp2p/go-libp2p/p2p/host/blank"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/rate"
	yamuxconfig "github.com/libp2p/go-yamux/v5"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// muxers are the multiplexers of the kinds. Both are yamux, and differ in the sizes of
// windows and frames. The node that dials offers the one for its lane.
var muxers = [Kinds]protocol.ID{Control: yamux.ID, Data: "/orwl/data/yamux/1.0.0"}

const (
	dataWindow = 16 << 20
	dataFrame  = 256 << 10
	mostOpen   = 16 // streams that the other side may open on a connection
)

// multiplexer makes the multiplexer for a kind.
func multiplexer(kind Kind) upgrader.StreamMuxer {
	config := yamuxconfig.DefaultConfig()
	config.LogOutput = io.Discard
	config.ReadBufSize = 0         // the security below has a buffer
	config.EnableKeepAlive = false // nodes have their own heartbeats
	config.MaxIncomingStreams = mostOpen
	config.AcceptBacklog = mostOpen
	config.MaxStreamWindowSize = dataWindow
	if kind == Data {
		config.InitialStreamWindowSize = dataWindow
		config.MaxMessageSize = dataFrame
	}
	return upgrader.StreamMuxer{ID: muxers[kind], Muxer: (*yamux.Transport)(config)}
}

// assembled is a libp2p host that is made of just what a node needs: a carrier and
// identify. libp2p.New would link relays, NAT traversal and every transport, whatever its
// options are.
type assembled struct {
	host.Host
	dialling [Kinds]transport.Transport
	carrier  io.Closer // nil if it has nothing to close
	identify identify.IDService
	manager  network.ResourceManager
}

// assemble makes a host with an identity. It does not listen yet.
func assemble(o Options, private crypto.PrivKey, g connmgr.ConnectionGater) (a *assembled, err error) {
	a = new(assembled)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.manager, err = newManager(o); err != nil {
		return nil, err
	}
	listening, err := a.carry(o, g, private)
	if err != nil {
		return nil, err
	}
	bus := eventbus.NewBus()
	s, err := a.swarm(o, g, bus, private)
	if err != nil {
		return nil, err
	}
	a.Host = blankhost.NewBlankHost(s, blankhost.WithEventBus(bus))
	if err := s.AddTransport(listening); err != nil {
		return nil, fmt.Errorf("p2p: transport of node %d: %w", o.Number, err)
	}
	s.SetStreamHandler(a.negotiate(o.Hello))
	if a.identify, err = identify.NewIDService(a.Host, identify.UserAgent("go-orwl")); err != nil {
		return nil, fmt.Errorf("p2p: identify of node %d: %w", o.Number, err)
	}
	a.identify.Start()
	return a, nil
}

// swarm makes the swarm, which keeps the connections.
func (a *assembled) swarm(o Options, g connmgr.ConnectionGater, bus event.Bus, private crypto.PrivKey) (*swarm.Swarm, error) {
	peers, err := pstoremem.NewPeerstore()
	if err != nil {
		return nil, fmt.Errorf("p2p: peerstore of node %d: %w", o.Number, err)
	}
	id, err := corepeer.IDFromPrivateKey(private)
	if err == nil {
		err = errors.Join(peers.AddPrivKey(id, private), peers.AddPubKey(id, private.GetPublic()))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("p2p: identity of node %d: %w", o.Number, err), peers.Close())
	}
	options := []swarm.Option{swarm.WithConnectionGater(g), swarm.WithResourceManager(a.manager),
		swarm.WithDialTimeout(o.Hello), swarm.WithDialTimeoutLocal(o.Hello),
		swarm.WithUDPBlackHoleSuccessCounter(nil)} // a peer that is not up yet says nothing of the network
	if o.Registerer != nil {
		options = append(options, swarm.WithMetricsTracer(swarm.NewMetricsTracer(swarm.WithRegisterer(o.Registerer))))
	}
	s, err := swarm.NewSwarm(id, peers, bus, options...)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("p2p: swarm of node %d: %w", o.Number, err), peers.Close())
	}
	return s, nil
}

// negotiate finds the protocol of a stream that another node opens, and its handler. A
// stream that does not say its protocol in time is closed; the blank host would wait.
func (a *assembled) negotiate(most time.Duration) network.StreamHandler {
	mux := a.Host.Mux()
	return func(s network.Stream) {
		_ = s.SetDeadline(time.Now().Add(most)) // every muxer has deadlines
		name, handle, err := mux.Negotiate(s)
		if err == nil {
			err = errors.Join(s.SetProtocol(name), s.SetDeadline(time.Time{}))
		}
		if err != nil {
			_ = s.Reset() // it is over anyway
			return
		}
		_ = handle(name, s) // a blank host's handlers return nil
	}
}

// Close ends everything that assemble has made.
func (a *assembled) Close() error {
	var errs []error
	if a.identify != nil {
		errs = append(errs, a.identify.Close())
	}
	if a.Host != nil {
		errs = append(errs, a.Host.Close(), a.Host.Peerstore().Close())
	}
	if a.carrier != nil {
		errs = append(errs, a.carrier.Close())
	}
	if a.manager != nil {
		errs = append(errs, a.manager.Close())
	}
	return errors.Join(errs...)
}

// Linked are the carriers of the packages that a program links, by name.
var Linked = map[string]Carrier{}

// Carrier is how a host of our own carries bytes. The zero value is TCP, TLS and yamux.
// Others have a package each, so that only its importers link them. All nodes of a run use the
// same.
type Carrier struct {
	// Secure makes what encrypts TCP; TLS if nil.
	Secure func(private crypto.PrivKey, muxers []upgrader.StreamMuxer) (sec.SecureTransport, error)
	// QUIC makes a transport that takes the place of TCP, of its encryption and of yamux. The
	// host closes the io.Closer last.
	QUIC func(private crypto.PrivKey, gater connmgr.ConnectionGater, manager network.ResourceManager) (transport.Transport, io.Closer, error)
	// Streams makes a transport that takes the place of TCP below its encryption. Package p2ptest has one for a simulated network.
	Streams func(up transport.Upgrader, manager network.ResourceManager) transport.Transport
}

// carry makes the transports of a host: one for each kind of connection that it dials, and
// one that listens.
func (a *assembled) carry(o Options, g connmgr.ConnectionGater, private crypto.PrivKey) (listening transport.Transport, err error) {
	if o.Carrier.QUIC != nil {
		// A connection of QUIC has the same windows for bulk and for small frames.
		t, end, err := o.Carrier.QUIC(private, g, a.manager)
		if err != nil {
			return nil, fmt.Errorf("p2p: QUIC of node %d: %w", o.Number, err)
		}
		a.dialling, a.carrier = [Kinds]transport.Transport{t, t}, end
		return t, nil
	}
	small, large := multiplexer(Control), multiplexer(Data)
	large.Muxer = yielding{large.Muxer, o.Talk}
	// The node that dials has the choice. A host that a user has made knows only the usual one.
	offered := [Kinds][]upgrader.StreamMuxer{Control: {small}, Data: {large, small}}
	for kind, muxers := range offered {
		if a.dialling[kind], err = a.tcp(o, g, private, muxers); err != nil {
			return nil, err
		}
	}
	return a.tcp(o, g, private, []upgrader.StreamMuxer{small, large})
}

// tcp makes a transport of TCP with some multiplexers.
func (a *assembled) tcp(o Options, g connmgr.ConnectionGater, private crypto.PrivKey, muxers []upgrader.StreamMuxer) (transport.Transport, error) {
	var security sec.SecureTransport
	var err error
	if o.Carrier.Secure != nil {
		security, err = o.Carrier.Secure(private, muxers)
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
	up, err := upgrader.New([]sec.SecureTransport{security}, muxers, shared, a.manager, g, upgrader.WithAcceptTimeout(o.Hello))
	if err != nil {
		return nil, fmt.Errorf("p2p: upgrader of node %d: %w", o.Number, err)
	}
	if o.Carrier.Streams != nil {
		return o.Carrier.Streams(up, a.manager), nil
	}
	// A port that others may share could be another run's.
	t, err := tcp.NewTCPTransport(up, a.manager, nil, tcp.DisableReuseport(), tcp.WithConnectionTimeout(o.Hello))
	if err != nil {
		return nil, fmt.Errorf("p2p: transport of node %d: %w", o.Number, err)
	}
	return quietTCP{t}, nil
}

const (
	// mostConns is how many connections a peer may have to this node: two lanes, two
	// that are being replaced, and up to 8 by which it tries to reach this node.
	mostConns = 16
	// mostStreams is how many streams it may have on them.
	mostStreams = 4 * mostConns
)

// newManager makes the resource manager of a node. It bounds what one peer may
// have, and what all strangers may have together. The size of the run decides how much all
// peers have together.
func newManager(o Options) (network.ResourceManager, error) {
	unknown := rcmgr.LimitVal(2 * (mostPending + 4*o.Nodes)) // more than the gater keeps: it closes those in their order
	limits := rcmgr.PartialLimitConfig{
		Transient:   rcmgr.ResourceLimits{ConnsInbound: unknown, Streams: rcmgr.Unlimited},
		PeerDefault: rcmgr.ResourceLimits{ConnsInbound: mostConns, StreamsInbound: mostStreams},
		Peer: map[corepeer.ID]rcmgr.ResourceLimits{
			sessionID(o.Key): {ConnsInbound: mostSessions, StreamsInbound: 2 * mostSessions},
		},
	}.Build(rcmgr.InfiniteLimits)
	options := []rcmgr.Option{
		rcmgr.WithLimitPerSubnet([]rcmgr.ConnLimitPerSubnet{}, []rcmgr.ConnLimitPerSubnet{}),
		rcmgr.WithNetworkPrefixLimit([]rcmgr.NetworkPrefixLimit{}, []rcmgr.NetworkPrefixLimit{}),
		rcmgr.WithConnRateLimiters(new(rate.Limiter)),
	}
	if o.Registerer != nil {
		rcmgr.MustRegisterWith(o.Registerer)
		tell, err := rcmgr.NewStatsTraceReporter()
		if err != nil {
			return nil, fmt.Errorf("p2p: metrics of resources: %w", err)
		}
		options = append(options, rcmgr.WithTraceReporter(tell))
	} else {
		options = append(options, rcmgr.WithMetricsDisabled())
	}
	m, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limits), options...)
	if err != nil {
		return nil, fmt.Errorf("p2p: resource manager: %w", err)
	}
	return m, nil
}

// CheckAddress is what is wrong with an address, nil if it can be resolved.
func CheckAddress(address string) error {
	if strings.HasPrefix(address, "/") {
		_, err := Addresses(address)
		return err
	}
	_, _, err := net.SplitHostPort(address)
	return err
}

// Addresses parses a list of multiaddresses with commas between them.
func Addresses(list string) (all []multiaddr.Multiaddr, err error) {
	for one := range strings.SplitSeq(list, ",") {
		a, err := multiaddr.NewMultiaddr(one)
		if err != nil {
			return nil, fmt.Errorf("p2p: address %q: %w", one, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// mostListed is how long the list of addresses of a node may be.
const mostListed = 512

// List is a list of addresses, which Addresses parses: as many as fit, beginning with the first.
func List(all []multiaddr.Multiaddr) string {
	var list strings.Builder
	for _, a := range all {
		if list.Len() > 0 && list.Len()+len(a.String()) >= mostListed {
			break
		}
		if list.Len() > 0 {
			list.WriteByte(',')
		}
		list.WriteString(a.String())
	}
	return list.String()
}

// resolve is what an address may mean: host:port, where the port is one of TCP or of QUIC, or
// multiaddresses with commas between.
func resolve(ctx context.Context, address string, quic bool) ([]multiaddr.Multiaddr, error) {
	if strings.HasPrefix(address, "/") {
		return Addresses(address)
	}
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
		a, err := at(ip, int(n), quic)
		if err != nil {
			return nil, fmt.Errorf("p2p: address %q: %w", address, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// at is the multiaddress of a port, of TCP or of QUIC.
func at(ip net.IP, port int, quic bool) (multiaddr.Multiaddr, error) {
	if !quic {
		return manet.FromNetAddr(&net.TCPAddr{IP: ip, Port: port})
	}
	udp, err := manet.FromNetAddr(&net.UDPAddr{IP: ip, Port: port})
	if err != nil {
		return nil, err
	}
	return udp.Encapsulate(quicSuffix), nil
}

var quicSuffix = multiaddr.StringCast("/quic-v1")

// HostPort is the address of a port, of TCP or of QUIC, as host:port.
func HostPort(a multiaddr.Multiaddr) (string, error) {
	ip, err := manet.ToIP(a)
	if err != nil {
		return "", err
	}
	port, err := a.ValueForProtocol(multiaddr.P_TCP)
	if err != nil {
		port, err = a.ValueForProtocol(multiaddr.P_UDP)
	}
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(ip.String(), port), nil
}

// SeenFrom is the address of a node that listens at all its interfaces, for a node that
// has seen it at the other end of a connection.
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

const (
	seedSize = 32 // of an Ed25519 key, and of a private network's

	// publicKey is the key of runs that have none and stay on one machine. It is
	// no secret, and keeps no process out.
	publicKey = "orwl: a run without a key"
)

// derive makes a seed for one purpose from a run's key.
func derive(key []byte, purpose string) []byte {
	if key == nil {
		key = []byte(publicKey)
	}
	seed, err := hkdf.Key(sha256.New, key, nil, purpose, seedSize)
	if err != nil {
		panic(fmt.Sprintf("p2p: deriving %q: %v", purpose, err)) // the size is allowed
	}
	return seed
}

// Identity is the private key of a node. Every process with the run's key can make it, so
// nodes need not tell each other their public keys.
func Identity(key []byte, number int) crypto.PrivKey { return identity(key, nodePurpose(number)) }

// nodePurpose is what the identity of a node is derived for.
func nodePurpose(number int) string { return fmt.Sprintf("orwl node %d", number) }

// identity is the private key that is derived for a purpose.
func identity(key []byte, purpose string) crypto.PrivKey {
	private, _, err := crypto.GenerateEd25519Key(bytes.NewReader(derive(key, purpose)))
	if err != nil {
		panic(fmt.Sprintf("p2p: identity of %q: %v", purpose, err)) // a seed has the right size
	}
	return private
}

// nameOf is the public name of that identity.
func nameOf(key []byte, purpose string) corepeer.ID {
	id, err := corepeer.IDFromPrivateKey(identity(key, purpose))
	if err != nil {
		panic(fmt.Sprintf("p2p: name of %q: %v", purpose, err)) // every Ed25519 key has one
	}
	return id
}

// identities are the public names of all nodes, by number.
func identities(key []byte, nodes int) []corepeer.ID {
	ids := make([]corepeer.ID, nodes)
	for i := range ids {
		ids[i] = nameOf(key, nodePurpose(i))
	}
	return ids
}
