package orwl

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/orwl/internal/spread"
)

// door is where late nodes come in, once this node has begun. A late node asks what the nodes of the
// beginning stand on. All nodes say the same, and the first answer counts.
//
//	late node  ──────────────▶ all others
//	           ◀── Welcome ───
type door struct {
	mu     sync.Mutex
	said   []byte // the welcome; nil before letIn
	asked  []int  // by late nodes that wait for it
	answer chan message.Welcome
}

func newDoor() *door { return &door{answer: make(chan message.Welcome, 1)} }

// letIn lets late nodes in, and welcomes those that have asked.
func (n *Nodes) letIn() {
	if !n.many() {
		return
	}
	w := message.Welcome{Processors: n.processors}
	for _, g := range n.grounds {
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

// ask asks the others, and waits for the first answer. If their run fails before it begins, there is
// none.
func (n *Nodes) ask(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	n.fate.Begin(end, false)
	n.say(welcomeChannel, nil)
	select {
	case w := <-n.door.answer:
		n.grounds, n.processors = make(spread.Grounds, n.Count()), w.Processors
		for i, machine := range w.Machines {
			n.grounds[i].Machine = machine
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
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
		select {
		case d.answer <- w:
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
