package p2p

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Fabric makes this node's part of the fabric, and returns when all nodes have made
// theirs. ctx bounds only that. A node has one fabric at a time.
//
// If all nodes are on one machine it is in memory that they share; otherwise it is a
// *[Fabric], which is an rma.Exposer, too.
func (n *Node) Fabric(ctx context.Context, o FabricOptions) (rma.Fabric, error) {
	o = o.withDefaults(n.Nodes())
	if err := o.validate(n.Nodes()); err != nil {
		return nil, err
	}
	at := make([]int, o.Topology.Ranks())
	for p := range at {
		at[p] = o.Node(rma.Rank(p))
	}
	m, mine := n.newMachineFabric(o, at)
	mine.plan = fmt.Sprintf("%v with %d words each at nodes %v", o.Topology, o.Words, at)
	all, err := n.gatherSites(ctx, mine)
	if err != nil {
		if m != nil {
			m.abandon()
		}
		return nil, err
	}
	if m, err = n.meetOnMachine(ctx, o, m, all); err != nil {
		return nil, err
	}
	if m != nil {
		return m, nil
	}
	f, err := n.newFabric(o, at)
	if err != nil {
		return nil, err
	}
	if _, err := n.Gather(ctx, "fabric", nil); err != nil { // nobody asks for what is not there
		f.fail(err)
		return nil, err
	}
	n.tellLosses(f)
	return f, nil
}

// tellLosses tells a fabric of nodes that were gone before it could be told.
func (n *Node) tellLosses(f operations) {
	for i := range n.peers {
		if err := n.Lost(i); err != nil {
			f.Lost(i, err)
		}
	}
}

// gatherSites is what all nodes say of themselves, who are to make the same fabric.
func (n *Node) gatherSites(ctx context.Context, mine site) ([]site, error) {
	blobs, err := n.Gather(ctx, "plan of fabric", mine.append())
	if err != nil {
		return nil, err
	}
	all := make([]site, len(blobs))
	for i, blob := range blobs {
		if blob == nil {
			return nil, fmt.Errorf("p2p: no fabric without node %d: %w", i, n.Lost(i))
		}
		if all[i], err = parseSite(blob); err != nil {
			return nil, fmt.Errorf("p2p: fabric of node %d: %w", i, err)
		}
		if all[i].plan != mine.plan {
			return nil, fmt.Errorf("p2p: node %d makes another fabric than node %d: give all nodes the same FabricOptions: %s; %s", i, n.Number(), all[i].plan, mine.plan)
		}
	}
	return all, nil
}
