package transport

import (
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/multiformats/go-multiaddr"
)

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
