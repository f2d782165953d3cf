package window

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/rma"
)

// Meet makes this node's part of a fabric, and returns when all nodes have made
// theirs. ctx bounds only that. A node has one fabric at a time.
//
// If all nodes are on one machine it is in memory that they share; otherwise it is a
// *[Fabric], which is an rma.Exposer, too.
func Meet(ctx context.Context, n Node, o Options) (rma.Fabric, error) {
	o = o.withDefaults(n.Nodes())
	if err := o.validate(n.Nodes()); err != nil {
		return nil, err
	}
	at := make([]int, o.Topology.Ranks())
	for p := range at {
		at[p] = o.Node(rma.Rank(p))
	}
	m, mine := newMachineFabric(n, o, at)
	mine.Plan = fmt.Sprintf("%v with %d words each at nodes %v", o.Topology, o.Words, at)
	all, err := gatherSites(ctx, n, mine)
	if err != nil {
		if m != nil {
			m.abandon()
		}
		return nil, err
	}
	if m, err = meetOnMachine(ctx, n, o, m, all); err != nil {
		return nil, err
	}
	if m != nil {
		return m, nil
	}
	f, err := newFabric(n, o, at)
	if err != nil {
		return nil, err
	}
	if _, err := n.Gather(ctx, "fabric", nil); err != nil { // before any node asks
		f.fail(err)
		return nil, err
	}
	tellLosses(n, f)
	return f, nil
}

// tellLosses tells a fabric of nodes that were gone before it could be told.
func tellLosses(n Node, f Operations) {
	for i := range n.Nodes() {
		if err := n.Lost(i); err != nil {
			f.Lost(i, err)
		}
	}
}

// gatherSites is what all nodes say of themselves. They must make the same fabric.
func gatherSites(ctx context.Context, n Node, mine control.Site) ([]control.Site, error) {
	blobs, err := n.Gather(ctx, "plan of fabric", mine.Bytes())
	if err != nil {
		return nil, err
	}
	all := make([]control.Site, len(blobs))
	for i, blob := range blobs {
		if blob == nil {
			return nil, fmt.Errorf("p2p: no fabric without node %d: %w", i, n.Lost(i))
		}
		if all[i], err = control.ParseSite(blob); err != nil {
			return nil, fmt.Errorf("p2p: fabric of node %d: %w", i, err)
		}
		if all[i].Plan != mine.Plan {
			return nil, fmt.Errorf("p2p: node %d makes another fabric than node %d: give all nodes the same FabricOptions: %s; %s", i, n.Number(), all[i].Plan, mine.Plan)
		}
	}
	return all, nil
}
