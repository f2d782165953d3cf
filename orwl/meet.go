package orwl

import (
	"context"
	"net"

	"github.com/orwl/go-orwl/net/p2p/rendezvous"
	"github.com/orwl/go-orwl/orwl/launch"
)

// Meet gives a number to a process that knows only how many nodes there are: ORWL_JOIN, or a
// program's flag -join, says so. It finds the others by their key, on the networks of
// this machine by multicast DNS, or by o.Discovery. A place that has a number is returned as it
// is. The rest of o comes from the place.
//
// [Join] calls it. A program that needs its number earlier calls it first:
//
//	place, err := launch.FromEnvironment()
//	...
//	place, err = orwl.Meet(ctx, place, rendezvous.Options{})
//	...
//	nodes, err := orwl.Join(ctx, orwl.JoinOptions{Place: &place})
func Meet(ctx context.Context, p launch.Place, o rendezvous.Options) (launch.Place, error) {
	if !p.Unmet {
		return p, nil
	}
	o.Nodes, o.Key, o.Listen = p.Nodes, p.Key, anyPort(p.Listen)
	seat, err := rendezvous.Meet(ctx, o)
	if err != nil {
		return p, err
	}
	p.Unmet, p.Node, p.Root, p.Left = false, seat.Number, seat.Root, seat.Close
	if p.Node == 0 {
		p.Report = func(address string) error {
			seat.Report(address)
			return nil
		}
	}
	return p, nil
}

// anyPort is the host of an address, with any port.
func anyPort(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(host, "0")
}
