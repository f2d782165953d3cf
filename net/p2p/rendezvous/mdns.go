package rendezvous

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/discovery"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
	"github.com/libp2p/zeroconf/v2"
	"github.com/multiformats/go-multiaddr"
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

// asker finds hosts by multicast DNS. It announces nothing itself, as go-libp2p's service always
// does: a session has no host. failed is told why it cannot ask.
type asker struct{ failed chan<- error }

var _ discovery.Discoverer = asker{}

// FindPeers implements discovery.Discoverer. The channel stays open until ctx ends.
func (a asker) FindPeers(ctx context.Context, namespace string, _ ...discovery.Option) (<-chan peer.AddrInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	entries := make(chan *zeroconf.ServiceEntry)
	found := make(chan peer.AddrInfo)
	go func() {
		defer cancel()
		if err := zeroconf.Browse(ctx, fmt.Sprintf("_%s._udp", namespace), "local", entries); err != nil {
			select {
			case a.failed <- fmt.Errorf("rendezvous: multicast DNS: %w: is there a network?", err):
			default:
			}
		}
	}()
	go func() {
		defer close(found)
		for {
			select {
			case e, is := <-entries:
				if !is {
					return
				}
				hand(ctx, infos(e), found)
			case <-ctx.Done():
				return
			}
		}
	}()
	return found, nil
}

// hand puts hosts into a channel, until ctx ends.
func hand(ctx context.Context, all []peer.AddrInfo, found chan<- peer.AddrInfo) {
	for _, info := range all {
		select {
		case found <- info:
		case <-ctx.Done():
			return
		}
	}
}

// infos are the hosts that an entry of go-libp2p's service tells of.
func infos(e *zeroconf.ServiceEntry) []peer.AddrInfo {
	var all []multiaddr.Multiaddr
	for _, line := range e.Text {
		address, is := strings.CutPrefix(line, "dnsaddr=")
		if a, err := multiaddr.NewMultiaddr(address); is && err == nil {
			all = append(all, a)
		}
	}
	infos, err := peer.AddrInfosFromP2pAddrs(all...)
	if err != nil {
		return nil // go-libp2p's service has written none of them
	}
	return infos
}
