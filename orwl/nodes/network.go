package nodes

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/p2p/rendezvous"
	"github.com/orwl/go-orwl/orwl/internal/linked"
)

func init() { linked.Network = Network{} }

// Network is how the processes of a run find each other, and how they carry bytes. All have the
// same. The zero value is the default.
type Network struct {
	// Carrier is how the nodes carry bytes: TCP with TLS by default. Package net/p2p/quic has
	// another.
	Carrier p2p.Carrier
	// Host is this node's libp2p host, which the program has made and closes; the node makes
	// one if nil. See [p2p.Options].
	Host p2p.Host
	// Rendezvous says how processes find each other that have no numbers: by multicast DNS if
	// zero. Nodes, Key and Listen come from the place.
	Rendezvous rendezvous.Options
	// Registerer is told of go-libp2p's own metrics, if not nil. See package metrics for ours.
	Registerer prometheus.Registerer
}

// Join implements node.Network.
func (w Network) Join(ctx context.Context, o node.Options) (node.Node, error) {
	n, err := p2p.Join(ctx, p2p.Options{
		Number: o.Number, Nodes: o.Nodes, Key: o.Key, Listen: o.Listen, Root: o.Root, Peers: o.Peers,
		Listening: o.Listening, Lease: o.Lease, Skew: o.Skew, Beat: o.Beat, JoinTimeout: o.Patience,
		Machine: o.Machine, Remote: o.Remote, Begin: o.Begin, Late: o.Late, Hold: o.Hold, Launched: o.Launched, Log: o.Log,
		Carrier: w.Carrier, Host: w.Host, Registerer: w.Registerer,
	})
	if err != nil {
		return nil, err
	}
	return member{n}, nil
}

// Meet implements node.Network.
func (w Network) Meet(ctx context.Context, p node.Party) (node.Seat, error) {
	o := w.Rendezvous
	o.Nodes, o.Key, o.Listen = p.Nodes, p.Key, p.Listen
	if o.Log == nil {
		o.Log = p.Log
	}
	seat, err := rendezvous.Meet(ctx, o)
	if err != nil {
		return node.Seat{}, err
	}
	return node.Seat{Number: seat.Number, Root: seat.Root, Report: seat.Report, Close: seat.Close}, nil
}

// member is a node of package p2p.
type member struct{ *p2p.Node }

// Again implements node.Node.
func (m member) Again(ctx context.Context) (node.Node, error) {
	n, err := m.Node.Again(ctx)
	if err != nil {
		return nil, err
	}
	return member{n}, nil
}

// Memory implements node.Node.
func (m member) Memory() node.Memory { return m.Node.Memory() }
