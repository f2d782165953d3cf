package transport

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// candidateHello is how long a connection of a candidate may take to be secured.
const candidateHello = 5 * time.Second

// Candidate makes the host of a process that has no number yet. It has a random identity,
// and is in the private network of the run's key, so only processes with the key can talk to
// it. It listens.
func Candidate(ctx context.Context, key []byte, nodes int, listen string) (host.Host, error) {
	private, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("p2p: identity of a candidate: %w", err)
	}
	o := Options{Nodes: nodes, Key: key, Private: true, Hello: candidateHello, Talk: func() uint64 { return 0 }, Stranger: func(string) {}}
	a, err := assemble(o, private, keyed{newPending(o)})
	if err != nil {
		return nil, err
	}
	at, err := resolve(ctx, listen, false)
	if err == nil {
		err = a.Network().Listen(at[0])
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("p2p: a candidate cannot listen at %s: %w", listen, err), a.Close())
	}
	return a, nil
}

// keyed lets in every process that has come into the private network.
type keyed struct{ pending *pending }

var _ connmgr.ConnectionGater = keyed{}

// InterceptPeerDial implements connmgr.ConnectionGater.
func (g keyed) InterceptPeerDial(corepeer.ID) bool { return true }

// InterceptAddrDial implements connmgr.ConnectionGater.
func (g keyed) InterceptAddrDial(corepeer.ID, multiaddr.Multiaddr) bool { return true }

// InterceptAccept implements connmgr.ConnectionGater.
func (g keyed) InterceptAccept(c network.ConnMultiaddrs) bool {
	g.pending.add(c)
	return true
}

// InterceptSecured implements connmgr.ConnectionGater.
func (g keyed) InterceptSecured(_ network.Direction, _ corepeer.ID, c network.ConnMultiaddrs) bool {
	g.pending.remove(c.RemoteMultiaddr())
	return true
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g keyed) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

// List is a list of addresses, which Addresses parses: as many as fit.
func List(all []multiaddr.Multiaddr) string { return listed(all, mostListed) }

// Addresses parses a list of multiaddresses with commas between them.
func Addresses(list string) ([]multiaddr.Multiaddr, error) { return multiaddresses(list) }
