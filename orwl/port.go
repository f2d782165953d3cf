package orwl

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/p2p"
)

// firstPort is the channel of port 0.
const firstPort = 16

// Ports is how many a run has.
const Ports = 64

// Port takes messages of an application's own from node to node: exactly once, as long
// as both are there. Messages of more than 8 KiB may overtake others.
type Port struct {
	n       *Nodes
	channel uint64
}

// PortOptions say what becomes of what comes through a port.
type PortOptions struct {
	// Take takes a message that came through the port, and is good until it returns.
	// Several goroutines may call it at a time, and for what came before the port was
	// opened, Nodes.Port does. It must not wait for anything that another message
	// brings. An error says that no correct node sends such a thing, and ends the
	// connection.
	Take func(p *Port, from int, header, bulk []byte) error
	// Lost, if not nil, is told of each node that is gone, also before, once and after
	// everything that came from it. It must not wait for long.
	Lost func(node int, why error)
}

// Port opens the port of a number, from 0 to Ports-1: once for each, and the same
// number on every node that is to be understood. What came before waits for it.
func (n *Nodes) Port(number int, o PortOptions) (*Port, error) {
	switch {
	case number < 0 || number >= Ports:
		return nil, fmt.Errorf("orwl: port %d, want 0 to %d", number, Ports-1)
	case o.Take == nil:
		return nil, fmt.Errorf("orwl: port %d has no PortOptions.Take", number)
	case !n.many():
		return nil, fmt.Errorf("%w: there is nobody behind port %d of a run of one", ErrNode, number)
	}
	p := &Port{n, firstPort + uint64(number)}
	take := func(from int, header, bulk []byte) error {
		if err := o.Take(p, from, header, bulk); err != nil {
			return fmt.Errorf("%w: %w", p2p.ErrProtocol, err)
		}
		return nil
	}
	if err := n.node.Receive(p.channel, p2p.Receiver{Take: take}); err != nil {
		return nil, fmt.Errorf("orwl: port %d: %w", number, err)
	}
	if o.Lost != nil {
		n.node.OnLoss(o.Lost)
	}
	return p, nil
}

// Send sends a message to another node, as soon as not too much is on its way there. It
// does not wait for more, and has copied the message when it returns.
func (p *Port) Send(ctx context.Context, to int, header, bulk []byte) error {
	if err := p.n.node.Pace(ctx, to); err != nil {
		return err
	}
	return p.Answer(to, header, bulk)
}

// Answer is Send that does not wait at all: for PortOptions.Take.
func (p *Port) Answer(to int, header, bulk []byte) error {
	return p.n.node.Send(to, p.channel, header, bulk, false)
}
