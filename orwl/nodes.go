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
