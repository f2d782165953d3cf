package rendezvous

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/discovery"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
	"github.com/libp2p/zeroconf/v2"
	"github.com/multiformats/go-multiaddr"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// ErrNobody is for a session that has found no server in time.
var ErrNobody = errors.New("rendezvous: no server was found")

// Way is how sessions find a server without its address. Both ends have the same key, and the
// same way. The zero value is multicast DNS, on the networks of this machine.
//
// It finds addresses only. Session and server prove the key to each other there, before either
// says a word.
type Way struct {
	// Discovery is any of libp2p's discoveries, multicast DNS if nil.
	Discovery discovery.Discovery
	// Host is the server's, if Discovery is set: the host on which Discovery is. A session
	// needs none.
	Host host.Host
	// Patience is how long a session looks; 10 s if zero.
	Patience time.Duration
}

// Announce has sessions find a server on the host h. It returns when ctx ends.
func (w Way) Announce(ctx context.Context, h host.Host, key []byte, log *slog.Logger) error {
	if len(key) == 0 {
		return ErrNoKey
	}
	finds := w.Discovery
	if finds == nil {
		found, err := local{h}.FindPeers(ctx, serverspace(key)) // it also announces the server
		if err != nil {
			return err
		}
		for {
			select {
			case <-found: // another server
			case <-ctx.Done():
				return nil
			}
		}
	}
	advertise(ctx, finds, serverspace(key), func(err error) {
		if ctx.Err() == nil {
			log.Warn("rendezvous: cannot announce the server", "why", err)
		}
	})
	return nil
}

// advertise says under a name that this process is there, again and again, until ctx ends.
func advertise(ctx context.Context, d discovery.Advertiser, name string, complain func(error)) {
	for {
		again, err := d.Advertise(ctx, name)
		if err != nil {
			complain(err)
		}
		if again <= 0 || err != nil {
			again = findAgain
		}
		if !pause(ctx, again*7/8) {
			return
		}
	}
}

// Find yields addresses, as host:port, at which servers with this key may be. It looks again until
// ctx ends or Patience is over. Then it yields an error that matches ErrNobody.
func (w Way) Find(ctx context.Context, key []byte) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if len(key) == 0 {
			yield("", ErrNoKey)
			return
		}
		if w.Patience == 0 {
			w.Patience = 10 * time.Second
		}
		failed := make(chan error, 1)
		var finds discovery.Discoverer = asker{failed}
		if w.Discovery != nil {
			finds = w.Discovery
		}
		ctx, cancel := context.WithTimeoutCause(ctx, w.Patience, fmt.Errorf("looked for %v", w.Patience))
		defer cancel()
		for {
			more, err := each(ctx, finds, key, func(address string) bool { return yield(address, nil) })
			if !more {
				return
			}
			select {
			case err = <-failed:
			default:
			}
			if !pause(ctx, findAgain) {
				yield("", errors.Join(fmt.Errorf("%w with this key: %w", ErrNobody, context.Cause(ctx)), err))
				return
			}
		}
	}
}

// each looks once. It is false if yield has had enough.
func each(ctx context.Context, finds discovery.Discoverer, key []byte, yield func(string) bool) (more bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found, err := finds.FindPeers(ctx, serverspace(key))
	if err != nil {
		return true, err
	}
	for {
		select {
		case info, is := <-found:
			if !is {
				return true, nil
			}
			for _, a := range info.Addrs {
				if address, err := transport.HostPort(a); err == nil && !yield(address) {
					return false, nil
				}
			}
		case <-ctx.Done():
			return true, nil
		}
	}
}

// pause waits, and is false if ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// serverspace is the name under which sessions look for a server. It tells nothing of the key.
func serverspace(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("orwl server"))
	return fmt.Sprintf("orwl-%x", mac.Sum(nil)[:8])
}

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
