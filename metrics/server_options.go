package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/internal/port"
	live "github.com/orwl/go-orwl/orwl/watch"
)

// DefaultAddress is where a Server listens if it is told nothing.
const DefaultAddress = port.Default

// Match errors of [Serve] by these.
var (
	ErrAddress = port.ErrAddress // an address at which no server can listen, whatever else runs on the machine
	ErrTaken   = port.ErrTaken   // an address at which another program listens
	ErrNoKey   = port.ErrNoKey   // an address that others than this machine can reach, in a run without a key
)

// ServerOptions say where to listen, and what there is to see.
type ServerOptions struct {
	// Address is host:port; DefaultAddress if empty. Without a host it is the
	// loopback's, and port 0 is any that is free.
	Address string
	// Node is added to the port, unless that is 0: so the nodes of one machine can
	// be given one address.
	Node int
	// Key says that the run has a cluster key. Without one nothing listens beyond the
	// loopback interface, since anyone who reaches the port can read what it shows.
	Key bool
	// Gatherer is what /metrics shows. Required.
	Gatherer prometheus.Gatherer
	// Inspect is what /debug/orwl shows, as JSON: the state of a runtime, for example. With
	// nil it shows nothing.
	Inspect func() any
	// Watch is the live page, at /. With nil there is a list of links.
	Watch *live.Page
	// Ready is why the node is not ready yet, or any more, nil if it is: it always
	// is if there is no Ready. See Metrics.Ready.
	Ready func() error
}

func (o ServerOptions) withDefaults() ServerOptions {
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	return o
}

func (o ServerOptions) validate() error {
	switch {
	case o.Gatherer == nil:
		return errors.New("metrics: ServerOptions.Gatherer is nil: want one, as prometheus.NewRegistry makes")
	case o.Node < 0:
		return fmt.Errorf("metrics: ServerOptions.Node is %d: want 0 or more", o.Node)
	}
	if _, err := o.port().Listens(); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// port is where to listen.
func (o ServerOptions) port() port.Options {
	return port.Options{Address: o.Address, Node: o.Node, Key: o.Key}
}
