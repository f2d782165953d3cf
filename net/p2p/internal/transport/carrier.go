package transport

import (
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/pnet"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

// Carrier is how a host of our own carries bytes. The zero value is TCP, TLS and yamux.
// Others have a package each, so that only its importers link them. All nodes of a run use the
// same.
type Carrier struct {
	// Secure makes what encrypts TCP; TLS if nil.
	Secure func(private crypto.PrivKey, muxers []upgrader.StreamMuxer) (sec.SecureTransport, error)
	// QUIC makes a transport that takes the place of TCP, of its encryption and of yamux. The
	// host closes the io.Closer last.
	QUIC func(private crypto.PrivKey, gater connmgr.ConnectionGater, manager network.ResourceManager) (transport.Transport, io.Closer, error)
	// Streams makes a transport that takes the place of TCP below its encryption. Package p2ptest has that of a simulated network.
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
	large.Muxer = courtesy{large.Muxer, o.Talk}
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
