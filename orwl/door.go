package orwl

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/orwl/internal/spread"
)

// door is where late nodes come in, once this node has begun. A late node asks which nodes of the
// beginning share a machine. All nodes say the same, and the first answer counts.
//
//	late node  ──────────────▶ all others
//	           ◀── Welcome ───
type door struct {
	mu     sync.Mutex
	said   []byte // the welcome; nil before letIn
	asked  []int  // by late nodes that wait for it
	answer chan spread.Grounds
}

func newDoor() *door { return &door{answer: make(chan spread.Grounds, 1)} }

// letIn lets late nodes in, and welcomes those that have asked.
func (n *Nodes) letIn(grounds spread.Grounds) {
	if !n.many() {
		return
	}
	var w message.Welcome
	for _, g := range grounds {
		w.Machines = append(w.Machines, g.Machine)
	}
	d := n.door
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = w.Encode()
	for _, late := range d.asked {
		n.welcome(late)
	}
	n.node.LetIn()
}

// welcome tells a late node what has been said. If it fails, that node is gone.
func (n *Nodes) welcome(late int) { _ = n.node.Send(late, welcomeChannel, n.door.said, nil, false) }

// ask asks the others, and waits for the first answer.
func (n *Nodes) ask(ctx context.Context) (spread.Grounds, error) {
	n.say(welcomeChannel, nil)
	select {
	case grounds := <-n.door.answer:
		return grounds, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// atDoor takes what is said at the door: nothing is a question, and all else the answer to it.
func (n *Nodes) atDoor(from int, header, _ []byte) error {
	d := n.door
	if len(header) > 0 {
		w, err := message.ParseWelcome(header, n.Count())
		if err != nil {
			return fmt.Errorf("%w: %w", node.ErrProtocol, err)
		}
		grounds := make(spread.Grounds, n.Count())
		for i, machine := range w.Machines {
			grounds[i].Machine = machine
		}
		select {
		case d.answer <- grounds:
		default: // it is not the first
		}
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.said == nil {
		d.asked = append(d.asked, from)
	} else {
		n.welcome(from)
	}
	return nil
}
