package orwl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/linked"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/resource"
)

// Nodes are the processes of a run, as one of them sees them. A run of one process
// has no network.
type Nodes struct {
	place launch.Place
	node  node.Node // nil: there is no other
	site  *resource.Site
	log   *slog.Logger

	endings endings

	mu    sync.Mutex
	run   func(error) // ends the run that is under way
	ended error       // why it is to end
	goOn  bool        // without nodes that are lost
	apart error       // why this node must not, or nil
	taken bool        // by a Runtime
	back  bool        // it has come back to a run that goes on
	quits bool        // without the others: it has come back, and takes no part
}

// JoinOptions say how a process finds the others of its run. The zero value does
// as the environment says.
type JoinOptions struct {
	// Place is which node of how many this is, and where the others are;
	// launch.FromEnvironment if nil.
	Place *launch.Place
	// Lease is for how long a node is believed to be there after it was heard, Skew by how
	// much a clock may be wrong over that time, and Beat how often nodes speak: by default
	// Place.Lease, which is ORWL_LEASE, or 1.5 s; a sixth of that, at most 250 ms; and half of
	// the skew.
	// A node is lost after Lease+Skew of silence, and has let go by itself what others had
	// lent to it after Lease-Skew. A node of the same launcher that runs is slow, and not
	// lost. All nodes have the same Lease and Skew.
	Lease, Skew, Beat time.Duration
	// Back says that this node was lost, or has left, and comes back to the run of the others,
	// which goes on: see [Runtime.Back]. It finds them by the addresses of Place. Place.Back, which
	// is ORWL_BACK, says the same.
	Back bool
	// Patience is for how long the nodes wait for each other in the beginning, 30 s
	// by default.
	Patience time.Duration
	// Machine divides a machine into several: the node shares memory only with nodes of its
	// machine that say the same. By default all do.
	Machine string
	// Remote has the node share no memory with other nodes of its machine, as if each had a
	// machine of its own.
	Remote bool
	// Network joins the processes. A program of several nodes imports package orwl/nodes, whose
	// network is the default. A program of one process needs none.
	Network node.Network
	// Log is where it says what it does; slog.Default by default.
	Log *slog.Logger
}

// network is how the process joins others.
func (o *JoinOptions) network(p launch.Place) (node.Network, error) {
	switch {
	case o.Network != nil:
		return o.Network, nil
	case linked.Network != nil:
		return linked.Network, nil
	}
	return nil, fmt.Errorf("%w: the run has %d nodes (%s): write import _ \"github.com/orwl/go-orwl/orwl/nodes\" in the program, "+
		"or start it with ORWL_NODES=1", ErrNoNetwork, p.Nodes, p.How)
}

// later calls sweep, which sends retained releases that no request has taken along. A node
// that comes again and again does not notice so rare a call, and a report is soon right.
func later(sweep func()) { time.AfterFunc(50*time.Millisecond, sweep) }

// errLeft is why accesses to other nodes are over once the nodes are closed.
var errLeft = errors.New("orwl: this node has left the run: release what it holds before Nodes.Close")

// The channels on which the nodes talk.
const (
	resourceChannel = 1
	runChannel      = 2
	guardChannel    = 3
	phaseChannel    = 4
)

// Join meets the other nodes of the run. It returns when all are there.
func Join(ctx context.Context, o JoinOptions) (*Nodes, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	n := &Nodes{log: o.Log}
	if o.Place != nil {
		n.place = *o.Place
	} else {
		var err error
		if n.place, err = launch.FromEnvironment(); err != nil {
			return nil, err
		}
	}
	if o.Lease == 0 {
		o.Lease = n.place.Lease
	}
	o.Back = o.Back || n.place.Back
	n.back, n.quits = o.Back, o.Back
	if n.place.Nodes <= 1 {
		n.place.Nodes = 1
		return n, nil
	}
	var err error
	if o.Network, err = o.network(n.place); err != nil {
		return nil, err
	}
	if n.place, err = Meet(ctx, n.place, o); err != nil {
		return nil, err
	}
	if err = n.join(ctx, o); err != nil {
		n.leave()
	}
	return n, err
}

// leave says that this process is no node of the run any more.
func (n *Nodes) leave() {
	if n.place.Left != nil {
		n.place.Left()
	}
}

func (n *Nodes) join(ctx context.Context, o JoinOptions) (err error) {
	p := n.place
	n.node, err = o.Network.Join(ctx, node.Options{
		Number: p.Node, Nodes: p.Nodes, Key: p.Key, Listen: p.Listen, Root: p.Root, Peers: p.Peers,
		Listening: n.listening(o.Log), Lease: o.Lease, Skew: o.Skew, Beat: o.Beat, Patience: o.Patience,
		Machine: o.Machine, Remote: o.Remote, Back: o.Back, Launched: p.How == launch.Spawned, Log: o.Log,
	})
	if err != nil {
		return err
	}
	n.site, err = resource.NewSite(resource.SiteOptions{
		Node: resource.Node(p.Node), Nodes: p.Nodes, Incarnation: n.node.Since(), Transport: n, Suspected: n.silent, Memory: housing{n},
		Ended: n.grantsEnd, Later: later,
	})
	if err != nil {
		return err
	}
	n.node.OnLoss(n.lost)
	n.node.OnBack(func(peer int, since uint64) { n.site.Return(resource.Node(peer), since) })
	n.node.OnSuspect(n.suspect)
	n.node.OnApart(n.parted)
	return errors.Join(
		n.node.Receive(resourceChannel, node.Receiver{Take: n.deliver, TakeLent: n.deliverLent, Swap: n.deliverSwap}),
		n.node.Receive(runChannel, node.Receiver{Take: n.told}))
}

// listening tells whoever started node 0 where it listens.
func (n *Nodes) listening(log *slog.Logger) func(address string) {
	return func(address string) {
		if n.place.Report == nil {
			return
		}
		if err := n.place.Report(address); err != nil {
			log.Error("orwl: the others will not find this node", "why", err)
		}
	}
}

// Send implements resource.Transport.
func (n *Nodes) Send(to resource.Node, header, bulk []byte, keep bool) error {
	return n.node.Send(int(to), resourceChannel, header, bulk, keep)
}

// Post implements resource.Transport.
func (n *Nodes) Post(to resource.Node, header, bulk []byte, keep bool) error {
	return n.node.Post(int(to), resourceChannel, header, bulk, keep)
}

// housing is the node's memory, for its site, which is there before the node is.
type housing struct{ n *Nodes }

// Make implements resource.Allocator.
func (h housing) Make(size int) []byte { return h.n.node.Memory().Make(size) }

// Free implements resource.Allocator.
func (h housing) Free(b []byte) { h.n.node.Memory().Free(b) }

func (n *Nodes) deliver(from int, header, bulk []byte) error {
	return n.deliverLent(from, header, bulk, nil)
}

// deliverLent takes a message, by a parcel whose bulk may be in memory of its sender.
func (n *Nodes) deliverLent(from int, header, bulk []byte, valid func() bool) error {
	_, err := n.site.Deliver(resource.Node(from), header, resource.Bulk{Bytes: bulk, Valid: valid})
	return taken(err)
}

// deliverSwap takes a message whose bulk the resource may keep.
func (n *Nodes) deliverSwap(from int, header, bulk []byte) (other []byte, err error) {
	other, err = n.site.Deliver(resource.Node(from), header, resource.Bulk{Bytes: bulk, Swap: true})
	return other, taken(err)
}

// taken is what a site says of a message, to a node.
func taken(err error) error {
	if err == nil || errors.Is(err, resource.ErrReplayed) || errors.Is(err, resource.ErrOtherLife) {
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

// many reports whether there are others.
func (n *Nodes) many() bool { return n.Count() > 1 }

// Place is how the process came to be this node.
func (n *Nodes) Place() launch.Place { return n.place }

// Counts is what has gone to and fro between this node and the others because of
// resources: all zero if there is no other.
func (n *Nodes) Counts() resource.SiteCounts {
	if !n.many() {
		return resource.SiteCounts{}
	}
	return n.site.Counts()
}

// Network is this node's part in the network, for reports. It is nil if there is no other
// node.
func (n *Nodes) Network() node.Node {
	if n == nil {
		return nil
	}
	return n.node
}

// Gather returns what each node has said under a name, in their order, as soon as
// all have: a barrier, too. Of a node that is lost it is nil.
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
	if !n.many() {
		return nil
	}
	n.site.Settle()
	defer n.leave()
	defer n.endings.say(n.log)
	lost := n.site.Flush(ctx)
	var err error
	if !n.alone() {
		_, err = n.Gather(ctx, "close", nil)
	}
	if n.why() != nil {
		err = nil // the run was told, and waits for no lost node
	}
	err = errors.Join(lost, err, n.node.Close(ctx))
	for peer := range n.Count() { // the network says nothing of peers any more
		if peer != n.Number() {
			n.site.Away(resource.Node(peer), errLeft)
		}
	}
	return errors.Join(err, n.site.Flush(ctx))
}

// Run is a program on all nodes of its run: it joins the others, runs program, which
// declares and runs tasks as it would alone, and leaves when all have. For several nodes, the
// program imports package orwl/nodes.
//
//	err := orwl.Run(ctx, orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) error {
//		...
//		return rt.Run(ctx)
//	})
func Run(ctx context.Context, o Options, program func(ctx context.Context, rt *Runtime) error) error {
	if o.Join.Log == nil {
		o.Join.Log = o.Log
	}
	nodes, err := Join(ctx, o.Join)
	if err != nil {
		return err
	}
	o.Nodes = nodes
	rt, err := New(o)
	if err == nil {
		if err = program(ctx, rt); err != nil {
			nodes.fail(err) // they may wait for this one to begin
		}
		err = errors.Join(err, rt.Close())
	}
	return errors.Join(err, nodes.Close(context.WithoutCancel(ctx)))
}

// take makes a runtime the only one of the nodes.
func (n *Nodes) take() error {
	if !n.many() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.taken {
		return ErrNodesTaken
	}
	n.taken = true
	return nil
}
