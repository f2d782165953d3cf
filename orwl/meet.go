package orwl

import (
	"context"
	"net"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/launch"
)

// Meet gives a number to a process that knows only how many nodes there are: ORWL_JOIN, or a
// program's flag -join, says so. The process finds the others by their key: see nodes.Network.
// A place that has a number is returned as it is. Of o, only Network and Log count.
//
// [Join] calls it. A program that needs its number earlier calls it first:
//
//	place, err := launch.FromEnvironment()
//	...
//	place, err = orwl.Meet(ctx, place, orwl.JoinOptions{})
//	...
//	nodes, err := orwl.Join(ctx, orwl.JoinOptions{Place: &place})
func Meet(ctx context.Context, p launch.Place, o JoinOptions) (launch.Place, error) {
	if !p.Unmet {
		return p, nil
	}
	network, err := o.network(p)
	if err != nil {
		return p, err
	}
	seat, err := network.Meet(ctx, node.Party{Nodes: p.Nodes, Key: p.Key, Listen: anyPort(p.Listen), Log: o.Log})
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
