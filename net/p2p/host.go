package p2p

import (
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Identity is the private key of a node. Only a process with the key of the run can make
// it. A host for Options.Host has it:
//
//	h, err := libp2p.New(
//		libp2p.Identity(p2p.Identity(key, number)),
//		libp2p.ConnectionGater(p2p.Gater(key, number, nodes)),
//		libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1"))
func Identity(key []byte, number int) crypto.PrivKey { return transport.Identity(key, number) }

// Gater lets only the other nodes of a run connect to a node.
func Gater(key []byte, number, nodes int) connmgr.ConnectionGater {
	return transport.NewGater(key, number, nodes)
}
