package transport

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/transport"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/x/rate"
	"github.com/multiformats/go-multiaddr"
	"github.com/prometheus/client_golang/prometheus"
)

// tracer tells libp2p's own metrics of connections, as its swarm would, of which
// there is none here. It does nothing if nobody has asked for it.
type tracer struct{ swarm.MetricsTracer }

// newTracer registers libp2p's metrics of connections, unless in is nil.
func newTracer(in prometheus.Registerer) tracer {
	if in == nil {
		return tracer{}
	}
	return tracer{swarm.NewMetricsTracer(swarm.WithRegisterer(in))}
}

// opened is told of a connection that a lane uses, and closed when it does not any
// more.
func (t tracer) opened(c *Conn) {
	if t.MetricsTracer != nil {
		t.OpenedConnection(c.way, c.raw.RemotePublicKey(), c.raw.ConnState(), c.raw.LocalMultiaddr())
	}
}

func (t tracer) closed(c *Conn, lasted time.Duration) {
	if t.MetricsTracer != nil {
		t.ClosedConnection(c.way, lasted, c.raw.ConnState(), c.raw.LocalMultiaddr())
	}
}

// dialled is told how long dialling an address took, and what came of it.
func (t tracer) dialled(conn transport.CapableConn, at multiaddr.Multiaddr, took time.Duration, err, cause error) {
	switch {
	case t.MetricsTracer == nil:
	case err != nil:
		t.FailedDialing(at, err, cause)
	default:
		t.CompletedHandshake(took, conn.ConnState(), conn.LocalMultiaddr())
	}
}

// newManager makes a resource manager that counts and limits nothing, since how many
// connections there may be is the run's affair; none if in is nil.
func newManager(in prometheus.Registerer) (network.ResourceManager, error) {
	if in == nil {
		return nil, nil
	}
	rcmgr.MustRegisterWith(in)
	tell, err := rcmgr.NewStatsTraceReporter()
	if err != nil {
		return nil, fmt.Errorf("p2p: metrics of resources: %w", err)
	}
	m, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(rcmgr.InfiniteLimits),
		rcmgr.WithTraceReporter(tell), rcmgr.WithLimitPerSubnet([]rcmgr.ConnLimitPerSubnet{}, []rcmgr.ConnLimitPerSubnet{}),
		rcmgr.WithNetworkPrefixLimit([]rcmgr.NetworkPrefixLimit{}, []rcmgr.NetworkPrefixLimit{}),
		rcmgr.WithConnRateLimiters(new(rate.Limiter)))
	if err != nil {
		return nil, fmt.Errorf("p2p: resource manager: %w", err)
	}
	return m, nil
}
