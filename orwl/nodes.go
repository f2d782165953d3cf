package orwl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/internal/ending"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/launch"
)

// Nodes are the processes of a run, as one of them sees them. A run of one process
// has no network.
type Nodes struct {
	place   launch.Place
	network node.Node // of the process, in all lives; nil: there is no other
	node    *lifeNode // the network as this life sees it
	site    *queue.Site
	log     *slog.Logger

	across      atomic.Pointer[across]                          // the run that goes on by a plan
	traffic     struct{ sent, received, out, in atomic.Uint64 } // messages of such runs, and their contents
	taken       atomic.Bool                                     // by a Runtime
	sent        []atomic.Uint64                                 // bytes to each node
	copies      copies
	looking     looking
	cuts        atomic.Pointer[cuts] // of the run that goes on
	weights     []int                // of the nodes of this life; nil: they are equal
	nextWeights []int                // the weights in the next life; nil: they stay
	survival    *survival            // nil: the run has one life
	again       bool                 // the process was apart from the others since the life ended
	reason      ending.Reason
	endings     ending.Endings

	grounds    spread.Grounds // of the nodes of the beginning, without trees
	processors int            // the number that they use together
}

// later calls sweep, which asks for writes that their homes have not confirmed. A node
// that comes again and again does not notice so rare a call.
func later(sweep func()) { time.AfterFunc(50*time.Millisecond, sweep) }

// errLeft is why accesses to other nodes are over once the nodes are closed.
var errLeft = errors.New("orwl: this node has left the run: release what it holds before Nodes.Close")

// The channels on which the nodes talk.
const (
	resourceChannel = 1
	runChannel      = 2
	planChannel     = 4
	copyChannel     = 5
	cutChannel      = 6
	lookChannel     = 7
)

// transport is the node's part in the network, for its site.
type transport struct{ n *Nodes }

// Send implements queue.Transport.
func (t transport) Send(to queue.Node, header, bulk []byte, keep bool) error {
	t.n.sends(int(to), header, bulk)
	return t.n.node.Send(int(to), resourceChannel, header, bulk, keep)
}

// Post implements queue.Transport.
func (t transport) Post(to queue.Node, header, bulk []byte, keep bool) error {
	t.n.sends(int(to), header, bulk)
	return t.n.node.Post(int(to), resourceChannel, header, bulk, keep)
}

// sends counts the bytes that go to a node.
func (n *Nodes) sends(to int, header, bulk []byte) { n.sent[to].Add(uint64(len(header) + len(bulk))) }

// nodeMemory is the node's memory. The site uses it, and is there before the node is.
type nodeMemory struct{ n *Nodes }

// Make implements queue.Allocator.
func (m nodeMemory) Make(size int) []byte { return m.n.node.Memory().Make(size) }

// Free implements queue.Allocator.
func (m nodeMemory) Free(b []byte) { m.n.node.Memory().Free(b) }

func (n *Nodes) deliver(from int, header, bulk []byte) error {
	return n.deliverLent(from, header, bulk, nil)
}

// deliverLent takes a message, by a parcel whose bulk may be in memory of its sender.
func (n *Nodes) deliverLent(from int, header, bulk []byte, valid func() bool) error {
	_, err := n.site.Deliver(queue.Node(from), header, queue.Bulk{Bytes: bulk, Valid: valid})
	return taken(err)
}

// deliverSwap takes a message whose bulk the resource may keep.
func (n *Nodes) deliverSwap(from int, header, bulk []byte) (other []byte, err error) {
	other, err = n.site.Deliver(queue.Node(from), header, queue.Bulk{Bytes: bulk, Swap: true})
	return other, taken(err)
}

// taken is what a site says of a message, to a node.
func taken(err error) error {
	if err == nil || errors.Is(err, queue.ErrReplayed) || errors.Is(err, queue.ErrOtherLife) {
		return nil
	}
	return fmt.Errorf("%w: %w", node.ErrProtocol, err)
}

// Number is which node this is, from 0.
func (n *Nodes) Number() int {
	if n == nil {
		return 0
	}
	return n.place.Node
}

// Count is how many nodes there are.
func (n *Nodes) Count() int {
	if n == nil {
		return 1
	}
	return n.place.Nodes
}

// used is how many processors the nodes use together: see [Runtime.Processors].
func (n *Nodes) used() int {
	switch {
	case n != nil && n.survival != nil && n.survival.origin > 0:
		return n.survival.origin
	case n.many():
		return n.processors
	}
	return processors()
}

// machines are the nodes on each machine, nil if there is one node.
func (n *Nodes) machines() spread.Machines {
	if !n.many() {
		return nil
	}
	return n.grounds.Machines()
}

// share is the CPUs of this node, if other nodes of its machine have the others; nil: all that there are. alone: no other node has these.
func (n *Nodes) share() (cpus []int, alone bool) {
	if !n.many() || n.grounds == nil {
		return nil, false
	}
	return n.grounds.Share(n.Number())
}

// weighs is how much of the work each node gets in this life: see package balance.
func (n *Nodes) weighs() []int {
	if n == nil || n.weights == nil {
		return slices.Repeat([]int{balance.Mean}, n.Count())
	}
	return n.weights
}

// many reports whether there are others.
func (n *Nodes) many() bool { return n.Count() > 1 }

// Counts is what has gone to and fro between this node and the others because of
// resources: all zero if there is no other.
func (n *Nodes) Counts() queue.SiteCounts {
	if !n.many() {
		return queue.SiteCounts{}
	}
	c, t := n.site.Counts(), &n.traffic
	c.Sent += t.sent.Load()
	c.Received += t.received.Load()
	c.BytesOut += t.out.Load()
	c.BytesIn += t.in.Load()
	return c
}

// Network is this node's part in the network, for reports. It is nil if there is no other
// node.
func (n *Nodes) Network() node.Node {
	if !n.many() {
		return nil
	}
	return n.node
}

// Gather returns what each node has said under a name, in their order, as soon as
// all have: a barrier, too. The blob of a node that is lost is nil.
func (n *Nodes) Gather(ctx context.Context, name string, blob []byte) ([][]byte, error) {
	if !n.many() {
		return [][]byte{blob}, nil
	}
	return n.node.Gather(ctx, name, blob)
}

// Close leaves the run, when all nodes that are not lost do. It first flushes the writes
// since the end of [Runtime.Run], which flushes, too. All grants and requests at other nodes
// are over then.
func (n *Nodes) Close(ctx context.Context) error {
	if n.network == nil {
		return nil
	}
	defer n.leave()
	if n.node == nil || !n.many() { // it is in no life, or the other nodes are lost
		return n.network.Close(ctx)
	}
	defer n.endings.Say(n.log)
	lost := n.site.Flush(ctx)
	_, err := n.Gather(ctx, "close", nil)
	if n.reason.Why() != nil {
		err = nil // the run was told, and waits for no lost node
	}
	err = errors.Join(lost, err, n.node.Close(ctx))
	for peer := range n.Count() { // the network says nothing of peers any more
		if peer != n.Number() {
			n.site.Away(queue.Node(peer), errLeft)
		}
	}
	return errors.Join(err, n.site.Flush(ctx))
}

// take makes a runtime the only one of the nodes.
func (n *Nodes) take(rt *Runtime) error {
	if !n.many() {
		return nil
	}
	if n.taken.Swap(true) {
		return errNodesTaken
	}
	n.looking.rt.Store(rt)
	return nil
}

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
