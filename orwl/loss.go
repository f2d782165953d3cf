package orwl

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// NodeError is the failure of another node. If that is lost, the error matches
// [resource.ErrLost].
type NodeError struct {
	Node int
	Text string
	Lost bool // it is not there any more; otherwise Text is its own message
}

func (e *NodeError) Error() string { return fmt.Sprintf("orwl: node %d: %s", e.Node, e.Text) }

// encode is the failure as other nodes are told it.
func (e *NodeError) encode() []byte { return (*message.Failure)(e).Encode() }

// parseFailure reads the failure of one of so many nodes.
func parseFailure(b []byte, nodes int) (*NodeError, error) {
	f, err := message.ParseFailure(b, nodes)
	return (*NodeError)(f), err
}

// Is matches queue.ErrLost.
func (e *NodeError) Is(target error) bool { return target == queue.ErrLost && e.Lost }

// failureOf is an error as the failure of a node: of this one, unless another one is
// behind it.
func (n *Nodes) failureOf(err error) *NodeError {
	if e := (*NodeError)(nil); errors.As(err, &e) {
		return e
	}
	return &NodeError{Node: n.Number(), Text: err.Error()}
}

// told ends the run because another node says that it has ended.
func (n *Nodes) told(_ int, header, _ []byte) error {
	e, err := parseFailure(header, n.Count())
	if err != nil {
		return fmt.Errorf("%w: %w", node.ErrProtocol, err)
	}
	n.reason.End(e)
	return nil
}

// tell tells all other nodes that the run has ended here.
func (n *Nodes) tell(why error) { n.say(runChannel, n.failureOf(why).encode()) }

// say sends something to all other nodes.
func (n *Nodes) say(channel uint64, header []byte) {
	for peer := range n.Count() {
		if peer != n.Number() {
			// If it fails, that node is lost, and this one is about to learn it.
			_ = n.node.Send(peer, channel, header, nil, false)
		}
	}
}

// fail tells all other nodes that the run has failed here, unless one of them has told
// this one.
func (n *Nodes) fail(why error) {
	if n.many() && n.reason.Why() == nil {
		n.tell(why)
	}
}

// lost ends what concerns a node that is lost, or has left before its time. The run
// ends first. So a task that loses something by it does not count as the cause.
func (n *Nodes) lost(peer int, why error) {
	e := &NodeError{Node: peer, Text: why.Error(), Lost: true}
	n.reason.End(e)
	n.site.Lost(queue.Node(peer), e)
	n.copies.lost(peer, e)
	n.endings.Say(n.log)
}

// parted ends a life because this node must not go on without the nodes that are lost. A run of one life ends by the loss, which
// tells more.
func (n *Nodes) parted(why error) {
	if n.survival != nil {
		n.reason.End(&NodeError{Node: n.Number(), Text: why.Error(), Lost: true})
	}
}

// suspect gives up what a node has lent to this one, because it may have given this one
// up. If the node is lost, that comes later.
func (n *Nodes) suspect(peer int) {
	n.site.Suspect(queue.Node(peer), silence(peer))
	n.endings.Say(n.log)
}

// silent is why the lease of what a node has lent to this one may be over by now.
func (n *Nodes) silent(peer queue.Node) error {
	if n.node.Suspected(int(peer)) {
		return silence(int(peer))
	}
	return nil
}

func silence(peer int) error {
	return &NodeError{Node: peer, Lost: true, Text: "nothing was heard of it for so long that it may have given this node up: " +
		"see whether it, this process or the network stood still, and start the run again; ORWL_LEASE=5s forgives more"}
}

// outlive tells the launcher to keep the nodes that are left when others are lost.
func (n *Nodes) outlive() {
	if n.place.GoOn == nil {
		return
	}
	if err := n.place.GoOn(); err != nil {
		n.log.Error("orwl: the launcher will end this run when a node is lost", "why", err)
	}
}

// grantsEnd takes an ending, with the resource locked. The log says at once that a write may
// be lost.
func (n *Nodes) grantsEnd(e queue.Ending) {
	if lost := (*queue.LostWriteError)(nil); errors.As(e.Why, &lost) {
		n.log.Error("orwl: a write was released and may be lost", "resource", lost.Resource, "fence", lost.Fence, "home", lost.Home, "why", lost.Err)
		return
	}
	n.endings.Note(e)
}
