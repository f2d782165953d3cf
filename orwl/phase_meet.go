package orwl

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/meeting"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// meet makes the meeting, where the nodes agree on phases.
func (rt *Runtime) meet() error {
	n := rt.o.Nodes
	o := meeting.Options{
		Node: n.Number(), Nodes: n.Count(), Refusal: n.gaveUp,
		Left: func(node int) error { return fmt.Errorf("%w: the tasks of node %d have ended", ErrNotRunning, node) },
	}
	if !n.many() {
		rt.meeting = meeting.New(o)
		return nil
	}
	o.Life, o.Network = n.node.Incarnation(), n.node
	o.Tell = func(news []byte) { n.say(phaseChannel, news) }
	m := meeting.New(o)
	rt.meeting = m
	n.node.OnLoss(m.Lost)
	n.node.OnApart(func(why error) { m.Part(&NodeError{Node: n.Number(), Lost: true, Text: why.Error()}) })
	return n.node.Receive(phaseChannel, node.Receiver{Take: func(_ int, header, _ []byte) error {
		if err := m.Hear(header); err != nil {
			return fmt.Errorf("%w: %w", node.ErrProtocol, err)
		}
		return nil
	}})
}

// gaveUp is why this node refuses a phase after it has taken its call back. If a loss is the reason,
// it says which node is lost: the others may not know it yet.
func (n *Nodes) gaveUp(why error) *message.Failure {
	if lost := (*NodeError)(nil); errors.As(why, &lost) && lost.Lost {
		return (*message.Failure)(lost)
	}
	return &message.Failure{Node: n.Number(), Text: "it gave up the phase before all nodes had called it"}
}
