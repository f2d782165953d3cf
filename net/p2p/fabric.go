package p2p

import (
	"bytes"
	"context"
	"log/slog"
	"os"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/internal/window"
	"github.com/orwl/go-orwl/net/rma"
)

// FabricOptions describe a fabric over the nodes of a run. They are the same on all
// of them.
type FabricOptions = window.Options

// Fabric makes this node's part of the fabric, and returns when all nodes have made
// theirs. ctx bounds only that. A node has one fabric at a time.
//
// Operations between nodes of one machine work on memory that these share, and are frames
// between machines. Where no nodes share memory, the fabric is an rma.Exposer. When a node
// with ranks is lost, so is the fabric.
func (n *Node) Fabric(ctx context.Context, o FabricOptions) (rma.Fabric, error) {
	return window.Meet(ctx, site{n}, o)
}

// Machine is the name of the machine that the node is on: nodes whose machines have the same
// name share memory, if their systems let them. It is empty if the node shares none.
func (n *Node) Machine() string { return n.machine }

// machine is the name of this machine. Linux gives it an identifier each time that it is
// started. Containers of one machine have the same, also where they cannot reach each other's
// memory. A name by the user divides the machine further.
func (o *Options) machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if o.Remote || err != nil {
		return ""
	}
	name := string(bytes.TrimSpace(boot))
	if o.Machine != "" {
		name += " " + o.Machine
	}
	return name
}

// site is the node, as its windows see it.
type site struct{ *Node }

func (s site) Log() *slog.Logger { return s.log }

func (s site) Lane(to int, kind transport.Kind) *lane.Lane { return &s.peer(to).lanes[kind] }

// Operate implements window.Node. Operations that come before are refused: all nodes call
// it, and gather, before any uses a window.
func (s site) Operate(o window.Operations) {
	s.operations.Store(&o)
	s.lanes.Operate(o)
}
