package p2p

import (
	"context"
	"log/slog"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/internal/window"
	"github.com/orwl/go-orwl/net/rma"
)

// FabricOptions describe a fabric over the nodes of a run. They are the same on all
// of them.
type FabricOptions = window.Options

// Fabric is all ranks of a run, on all its nodes, with operations that are frames. When a
// node is lost, so is the fabric.
type Fabric = window.Fabric

// Window is a rank's view of a Fabric.
type Window = window.Window

// Fabric makes this node's part of the fabric, and returns when all nodes have made
// theirs. ctx bounds only that. A node has one fabric at a time.
//
// If all nodes are on one machine it is in memory that they share; otherwise it is a
// *[Fabric], which is an rma.Exposer, too.
func (n *Node) Fabric(ctx context.Context, o FabricOptions) (rma.Fabric, error) {
	return window.Meet(ctx, site{n}, o)
}

// site is the node, as its windows see it.
type site struct{ *Node }

func (s site) Remote() bool      { return s.options.Remote }
func (s site) Log() *slog.Logger { return s.log }

func (s site) Lane(to int, kind transport.Kind) *lane.Lane { return &s.peers[to].lanes[kind] }

// Operate implements window.Node. Operations that come before are refused: all nodes call
// it, and gather, before any uses a window.
func (s site) Operate(o window.Operations) {
	s.operations.Store(&o)
	s.lanes.Operate(o)
}
