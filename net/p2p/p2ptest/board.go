package p2ptest

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/discovery"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Board is a discovery in memory: each host pins its addresses under a name. The zero value is
// empty.
type Board struct {
	mu   sync.Mutex
	pins map[string][]peer.AddrInfo
}

// For is the board as a host sees it. A host that only looks may be nil.
func (b *Board) For(h host.Host) discovery.Discovery { return pinned{b, h} }

type pinned struct {
	*Board
	host host.Host
}

// Advertise implements discovery.Discovery.
func (b pinned) Advertise(_ context.Context, ns string, _ ...discovery.Option) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pins == nil {
		b.pins = make(map[string][]peer.AddrInfo)
	}
	b.pins[ns] = append(b.pins[ns], peer.AddrInfo{ID: b.host.ID(), Addrs: b.host.Addrs()})
	return time.Hour, nil
}

// FindPeers implements discovery.Discovery.
func (b pinned) FindPeers(_ context.Context, ns string, _ ...discovery.Option) (<-chan peer.AddrInfo, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := make(chan peer.AddrInfo, len(b.pins[ns]))
	for _, info := range b.pins[ns] {
		found <- info
	}
	close(found)
	return found, nil
}
