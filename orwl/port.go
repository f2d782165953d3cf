package orwl

import (
	"fmt"

	"github.com/orwl/go-orwl/net/node"
)

// firstPort is the channel of port 0.
const firstPort = 16

// Ports is the number of ports of a run.
const Ports = 64

// Port sends an application's own messages between nodes: each arrives exactly once
// while both nodes are there. Messages of more than 8 KiB may overtake others.
type Port struct {
	n       *Nodes
	channel uint64
}

// PortOptions say how a port handles what arrives.
type PortOptions struct {
	// Take gets a message that came through the port. header and bulk are valid until
	// it returns. Several goroutines may call it at a time; Nodes.Port calls it for
	// what came before the port was opened. It must not wait for anything that another
	// message brings. An error says that no correct node sends such a message, and ends
	// the connection.
	Take func(p *Port, from int, header, bulk []byte) error
	// Lost, if not nil, is told once of each node that is gone: also of nodes that were
	// gone before, and after everything that came from the node. It must not wait for
	// long.
	Lost func(node int, why error)
}

// Port opens the port of a number, from 0 to Ports-1. Open each number once, and the
// same numbers on every node that takes part. Messages that came earlier wait for the
// port.
func (n *Nodes) Port(number int, o PortOptions) (*Port, error) {
	switch {
	case number < 0 || number >= Ports:
		return nil, fmt.Errorf("orwl: port %d, want 0 to %d", number, Ports-1)
	case o.Take == nil:
		return nil, fmt.Errorf("orwl: port %d has no PortOptions.Take", number)
	case !n.many():
		return nil, fmt.Errorf("%w: port %d needs another node, and this run has only one: start more nodes", errNode, number)
	}
	p := &Port{n, firstPort + uint64(number)}
	take := func(from int, header, bulk []byte) error {
		if err := o.Take(p, from, header, bulk); err != nil {
			return fmt.Errorf("%w: %w", node.ErrProtocol, err)
		}
		return nil
	}
	if err := n.node.Receive(p.channel, node.Receiver{Take: take}); err != nil {
		return nil, fmt.Errorf("orwl: port %d: %w", number, err)
	}
	if o.Lost != nil {
		n.node.OnLoss(o.Lost)
	}
	return p, nil
}

// Send sends a message to another node. It waits for nothing, and has copied the message when it returns.
func (p *Port) Send(to int, header, bulk []byte) error {
	return p.n.node.Send(to, p.channel, header, bulk, false)
}
