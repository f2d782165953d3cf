package window

import (
	"context"
	"log/slog"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Node is the node that has the windows, as they see it.
type Node interface {
	// Number is the number of the node, of so many Nodes.
	Number() int
	Nodes() int
	// Machine is the name of the node's machine: nodes whose machines have the same name may
	// share memory. It is empty if the node shares none.
	Machine() string
	// Log is told what goes wrong.
	Log() *slog.Logger
	// Lane is a lane to another node.
	Lane(to int, kind transport.Kind) *lane.Lane
	// Gather gives every node what all nodes have given under a name: it is a barrier.
	Gather(ctx context.Context, name string, blob []byte) ([][]byte, error)
	// Lost is why a node is gone, nil if it is not.
	Lost(number int) error
	// Operate says who executes the operations of other nodes, and hears of losses.
	Operate(o Operations)
}

// Operations is a fabric, as the node sees it.
type Operations interface {
	lane.Operations
	// Shut is told that this node is closed.
	Shut()
	// Lost is told of a node that is gone, after everything that came from it.
	Lost(peer int, why error)
}
