package transport

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// gater lets in only the other nodes of the run, and sessions once they are admitted.
type gater struct {
	numbers  map[corepeer.ID]int // of the others
	stranger func(address string)
	pending  *pending    // connections; nil for a host of the user, which has its own bounds
	session  corepeer.ID // of every session
	sessions atomic.Bool // they are admitted

	mu    sync.Mutex
	given map[corepeer.ID][]multiaddr.Multiaddr // where the swarm may dial a node, once it has been told
}

func newGater(ids []corepeer.ID, me int, stranger func(address string)) *gater {
	g := &gater{numbers: make(map[corepeer.ID]int, len(ids)), stranger: stranger, given: make(map[corepeer.ID][]multiaddr.Multiaddr)}
	for i, id := range ids {
		if i != me {
			g.numbers[id] = i
		}
	}
	return g
}

// NewGater lets in only the other nodes of a run. Node me has the gater.
func NewGater(key []byte, me, nodes int) connmgr.ConnectionGater {
	g := newGater(identities(key, nodes), me, func(string) {})
	g.session = sessionID(key)
	g.sessions.Store(true) // a node that does not admit them has no handler for their streams
	return g
}

var _ connmgr.ConnectionGater = (*gater)(nil)

// number is whose identity that is.
func (g *gater) number(id corepeer.ID) (int, bool) {
	n, ok := g.numbers[id]
	return n, ok
}

// InterceptPeerDial implements connmgr.ConnectionGater.
func (g *gater) InterceptPeerDial(id corepeer.ID) bool {
	_, ok := g.number(id)
	return ok
}

// dialOnly has the swarm dial a node at these addresses only. The node tells the swarm others, by libp2p's
// identify: those at which it listens. Our addresses may lead through something that stands before it.
func (g *gater) dialOnly(id corepeer.ID, at []multiaddr.Multiaddr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.given[id] = at
}

// InterceptAddrDial implements connmgr.ConnectionGater.
func (g *gater) InterceptAddrDial(id corepeer.ID, a multiaddr.Multiaddr) bool {
	g.mu.Lock()
	at, told := g.given[id]
	g.mu.Unlock()
	return g.InterceptPeerDial(id) && (!told || slices.ContainsFunc(at, a.Equal))
}

// InterceptAccept implements connmgr.ConnectionGater. Nothing is known yet.
func (g *gater) InterceptAccept(c network.ConnMultiaddrs) bool {
	if g.pending != nil {
		g.pending.add(c)
	}
	return true
}

// InterceptSecured implements connmgr.ConnectionGater: the other side has proven its
// identity, and there is no stream yet.
func (g *gater) InterceptSecured(_ network.Direction, id corepeer.ID, c network.ConnMultiaddrs) bool {
	if g.pending != nil {
		g.pending.remove(c.RemoteMultiaddr())
	}
	_, ok := g.number(id)
	ok = ok || g.sessions.Load() && id == g.session
	if !ok {
		g.stranger(c.RemoteMultiaddr().String())
	}
	return ok
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g *gater) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
