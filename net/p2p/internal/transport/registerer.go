package transport

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/x/rate"
)

const (
	// mostConns is how many connections a peer may have to this node: two lanes, two
	// that are being replaced, and up to 8 by which it tries to reach this node.
	mostConns = 16
	// mostStreams is how many streams it may have on them.
	mostStreams = 4 * mostConns
)

// newManager makes the resource manager of a node. It bounds what one peer may
// have, and what all strangers may have together. The size of the run decides how much all
// peers have together.
func newManager(o Options) (network.ResourceManager, error) {
	unknown := rcmgr.LimitVal(2 * (mostPending + 4*o.Nodes)) // more than the gater keeps: it closes those in their order
	limits := rcmgr.PartialLimitConfig{
		Transient:   rcmgr.ResourceLimits{ConnsInbound: unknown, Streams: rcmgr.Unlimited},
		PeerDefault: rcmgr.ResourceLimits{ConnsInbound: mostConns, StreamsInbound: mostStreams},
		Peer: map[corepeer.ID]rcmgr.ResourceLimits{
			sessionID(o.Key): {ConnsInbound: mostSessions, StreamsInbound: 2 * mostSessions},
		},
	}.Build(rcmgr.InfiniteLimits)
	options := []rcmgr.Option{
		rcmgr.WithLimitPerSubnet([]rcmgr.ConnLimitPerSubnet{}, []rcmgr.ConnLimitPerSubnet{}),
		rcmgr.WithNetworkPrefixLimit([]rcmgr.NetworkPrefixLimit{}, []rcmgr.NetworkPrefixLimit{}),
		rcmgr.WithConnRateLimiters(new(rate.Limiter)),
	}
	if o.Registerer != nil {
		rcmgr.MustRegisterWith(o.Registerer)
		tell, err := rcmgr.NewStatsTraceReporter()
		if err != nil {
			return nil, fmt.Errorf("p2p: metrics of resources: %w", err)
		}
		options = append(options, rcmgr.WithTraceReporter(tell))
	} else {
		options = append(options, rcmgr.WithMetricsDisabled())
	}
	m, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limits), options...)
	if err != nil {
		return nil, fmt.Errorf("p2p: resource manager: %w", err)
	}
	return m, nil
}
