package transport

import (
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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

const (
	// mostPending is how many connections may be pending, beside some for each node of the
	// run: all nodes may come at once.
	mostPending = 128
	// leastPending is how many may be pending if this process may open few files. They have a
	// quarter of what it may open.
	leastPending = 8
)

// pending are the accepted connections whose other end has not proven an identity yet. Each
// has a descriptor, and a stranger costs nothing to open one. So there is a bound, and the
// oldest is closed when there is one too many: a node proves itself in milliseconds, and
// a stranger that says nothing is soon the oldest.
type pending struct {
	most int
	wait time.Duration        // the time that a connection has
	tell func(address string) // is told of each that has proven nothing

	mu   sync.Mutex
	open []*unproven // the oldest first
}

// unproven is a pending connection.
type unproven struct {
	network.ConnMultiaddrs
	late *time.Timer
}

func newPending(o Options) *pending {
	return &pending{most: min(mostPending+4*o.Nodes, max(leastPending, descriptors()/4)), wait: o.Hello, tell: o.Stranger}
}

// add notes a connection that was accepted.
func (p *pending) add(c network.ConnMultiaddrs) {
	u := &unproven{ConnMultiaddrs: c}
	p.mu.Lock()
	u.late = time.AfterFunc(p.wait, func() { p.end(u) })
	p.open = append(p.open, u)
	var oldest *unproven
	if len(p.open) > p.most {
		oldest = p.open[0]
	}
	p.mu.Unlock()
	if oldest != nil {
		p.end(oldest)
	}
}

// end closes a connection that has proven nothing.
func (p *pending) end(u *unproven) {
	if !p.remove(u.RemoteMultiaddr()) {
		return // it has proven something meanwhile
	}
	if c, ok := u.ConnMultiaddrs.(io.Closer); ok {
		_ = c.Close() // it may be closed already
	}
	p.tell(u.RemoteMultiaddr().String())
}

// remove takes out the connection with an address, and reports whether it was there.
func (p *pending) remove(address multiaddr.Multiaddr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, u := range p.open {
		if u.RemoteMultiaddr().Equal(address) {
			u.late.Stop()
			p.open = append(p.open[:i], p.open[i+1:]...)
			return true
		}
	}
	return false
}
