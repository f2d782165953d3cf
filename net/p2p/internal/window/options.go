package window

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Options describe a fabric over the nodes of a run. They are the same on all
// of them.
type Options struct {
	// Topology has the ranks as its leaves. Required.
	Topology *topology.Tree
	// Node is the node on which a rank lives. By default the ranks are dealt out in
	// order, as many to each node as to the next, or one more.
	Node func(p rma.Rank) int
	// Words is the size of each rank's symmetric memory; mem.DefaultWords if zero.
	Words int
	// Remote has operations between nodes go through frames, also where nodes are on one
	// machine and could share memory.
	Remote bool
	// Context ends the fabric when it is done: its error becomes every window's
	// failure. Never, if nil.
	Context context.Context
}

func (o Options) withDefaults(nodes int) Options {
	if o.Words == 0 {
		o.Words = mem.DefaultWords
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Node == nil && o.Topology != nil {
		ranks := o.Topology.Ranks()
		o.Node = func(p rma.Rank) int { return int(p) * nodes / ranks }
	}
	return o
}

func (o Options) validate(nodes int) error {
	if o.Topology == nil {
		return fmt.Errorf("p2p: FabricOptions.Topology is nil: give the tree of ranks, for instance topology.Flat(8)")
	}
	for p := range rma.Rank(o.Topology.Ranks()) {
		if n := o.Node(p); n < 0 || n >= nodes {
			return fmt.Errorf("p2p: FabricOptions.Node puts rank %d on node %d, want 0 to %d", p, n, nodes-1)
		}
	}
	return nil
}
