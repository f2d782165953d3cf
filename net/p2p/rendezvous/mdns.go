package rendezvous

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/discovery"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
)

// local finds candidates on the networks of this machine, by multicast DNS.
type local struct{ host host.Host }

var _ discovery.Discovery = local{}

// Advertise implements discovery.Discovery. FindPeers advertises, too.
func (l local) Advertise(context.Context, string, ...discovery.Option) (time.Duration, error) {
	return time.Hour, nil
}

// FindPeers implements discovery.Discovery. The channel stays open until ctx ends.
func (l local) FindPeers(ctx context.Context, namespace string, _ ...discovery.Option) (<-chan peer.AddrInfo, error) {
	found := make(notifee)
	s := mdns.NewMdnsService(l.host, fmt.Sprintf("_%s._udp", namespace), told{ctx, found})
	if err := s.Start(); err != nil {
		return nil, fmt.Errorf("rendezvous: multicast DNS: %w: is there a network?", err)
	}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return found, nil
}

// notifee is a channel of candidates.
type notifee chan peer.AddrInfo

// told hands on what mDNS finds, for as long as its context lives.
type told struct {
	ctx  context.Context
	that notifee
}

// HandlePeerFound implements mdns.Notifee.
func (t told) HandlePeerFound(info peer.AddrInfo) {
	select {
	case t.that <- info:
	case <-t.ctx.Done():
	}
}
