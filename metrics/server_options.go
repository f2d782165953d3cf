package metrics

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// DefaultAddress is where a Server listens if it is told nothing.
const DefaultAddress = "127.0.0.1:9464"

// ErrAddress is an address at which no server can listen, whatever else runs on the machine.
var ErrAddress = errors.New("metrics: want HOST:PORT, such as " + DefaultAddress)

// ErrTaken is an address at which another program listens.
var ErrTaken = errors.New("metrics: port taken")

// ErrNoKey is an address that others than this machine can reach, in a run without a
// key.
var ErrNoKey = errors.New("metrics: without a cluster key the port stays on this machine")

// ServerOptions say where to listen, and what there is to see.
type ServerOptions struct {
	// Address is host:port; DefaultAddress if empty. Without a host it is the
	// loopback's, and port 0 is any that is free.
	Address string
	// Node is added to the port, unless that is 0: so the nodes of one machine can
	// be given one address.
	Node int
	// Key says that the run has a cluster key. Without one nothing listens beyond the
	// loopback interface, since whoever reaches the port can read what it shows.
	Key bool
	// Gatherer is what /metrics shows. Required.
	Gatherer prometheus.Gatherer
	// Inspect is what /debug/orwl shows, as JSON: the state of a runtime, for example. With
	// nil it shows nothing.
	Inspect func() any
	// Ready is why the node is not ready yet, or any more, nil if it is: it always
	// is if there is no Ready. See Metrics.Ready.
	Ready func() error
}

func (o ServerOptions) withDefaults() ServerOptions {
	if o.Address == "" {
		o.Address = DefaultAddress
	}
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
	_, err := o.listens()
	return err
}

// listens is where to listen: an address whose host and port are both numbers.
func (o ServerOptions) listens() (string, error) {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return "", fmt.Errorf("%w: %q has no port", ErrAddress, o.Address)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", fmt.Errorf("%w: the port of %q is no number up to 65535", ErrAddress, o.Address)
	}
	if n != 0 {
		n += uint64(o.Node)
	}
	if n > 65535 {
		return "", fmt.Errorf("%w: from %q, node %d would have port %d: begin lower", ErrAddress, o.Address, o.Node, n)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return "", fmt.Errorf("%w: the host of %q is no IP address of this machine, nor localhost", ErrAddress, o.Address)
	}
	if !ip.IsLoopback() && !o.Key {
		return "", fmt.Errorf("%w: %s would be seen by others: listen at %s, or give the run a key", ErrNoKey, o.Address, DefaultAddress)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}
