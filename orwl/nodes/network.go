package nodes

import (
	"context"
	"errors"
	"fmt"
	"os"

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
	// Private adds a network that is secret before the first word, by libp2p's pre-shared key: TCP is encrypted twice, and
	// who has not the key learns nothing. It needs a key.
	//
	// ORWL_CARRIER sets both fields for all nodes: tcp, private, or quic in a program that links package net/p2p/quic.
	Private bool
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
	if err := w.choose(os.Getenv("ORWL_CARRIER")); err != nil {
		return nil, err
	}
	n, err := p2p.Join(ctx, p2p.Options{
		Number: o.Number, Nodes: o.Nodes, Key: o.Key, Listen: o.Listen, Root: o.Root, Peers: o.Peers,
		Listening: o.Listening, Lease: o.Lease, Skew: o.Skew, Beat: o.Beat, JoinTimeout: o.Patience,
		Machine: o.Machine, Remote: o.Remote, Begin: o.Begin, Late: o.Late, Hold: o.Hold, Launched: o.Launched, Log: o.Log,
		Carrier: w.Carrier, Private: w.Private, Host: w.Host, Registerer: w.Registerer,
	})
	if err != nil {
		return nil, err
	}
	return member{n}, nil
}

// choose sets how bytes are carried, unless the program has a host of its own, or the name is empty.
func (w *Network) choose(name string) error {
	if name == "" || w.Host != nil {
		return nil
	}
	var linked bool
	switch w.Carrier, linked = p2p.CarrierNamed(name); {
	case name == "tcp" || name == "private":
		w.Private = name == "private"
	case linked:
	case name == "quic":
		return errors.New("orwl: ORWL_CARRIER is quic, and the program does not link it: write import _ \"github.com/orwl/go-orwl/net/p2p/quic\" in it")
	default:
		return fmt.Errorf("orwl: ORWL_CARRIER is %q: want tcp, private or quic", name)
	}
	return nil
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
