package p2ptest

import (
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Where a host may listen: at a port of this machine.
const (
	TCP  = "/ip4/127.0.0.1/tcp/0"
	QUIC = "/ip4/127.0.0.1/udp/0/quic-v1"
)

// Host makes a host with the identity and the gater of a node.
func Host(key []byte, number, nodes int, listen string) (host.Host, error) {
	return libp2p.New(
		libp2p.Identity(transport.Identity(key, number)), libp2p.ConnectionGater(transport.NewGater(key, number, nodes)),
		libp2p.ListenAddrStrings(listen), libp2p.DisableRelay(), libp2p.DisableMetrics())
}
