package orwl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/internal/linked"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/launch"
)

// JoinOptions say how a process finds the others of its run. The zero value does
// as the environment says.
type JoinOptions struct {
	// Place is which node of how many this is, and where the others are;
	// launch.FromEnvironment if nil.
	Place *launch.Place
	// Lease is for how long a node is believed to be there after it was heard: by default
	// Place.Lease, which is ORWL_LEASE, or 1.5 s. A clock may be wrong by a sixth of that, at most
	// 250 ms. A node is lost after so much more silence, and has let go by itself what others had
	// lent to it so much earlier. A node of the same launcher that runs is slow, and not
	// lost. All nodes have the same Lease.
	Lease time.Duration
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
		"or start it with ORWL_NODES=1", errNoNetwork, p.Nodes, p.How)
}

// errLate is a place in a run that others have begun without this node, or would begin without it.
var errLate = errors.New("orwl: the run of a program that uses Join or Survive.Off has one life, and so takes no node that comes late: " +
	"start it without ORWL_BEGIN, ORWL_LATE and ORWL_RESTARTS")

// Join meets the other nodes of the run. It returns when all are there.
func Join(ctx context.Context, o JoinOptions) (*Nodes, error) {
	n, err := come(ctx, o, false)
	if err != nil || n.network == nil {
		return n, err
	}
	n.node = newLifeNode(n.network, 1, allSeats(n.place.Nodes), nil)
	if err := n.enter(ctx); err != nil {
		_ = n.network.Close(ctx) // err tells more
		n.leave()
		return nil, err
	}
	return n, nil
}

// allSeats are the seats of the only life of a run.
func allSeats(count int) []int {
	seats := make([]int, count)
	for i := range seats {
		seats[i] = i
	}
	return seats
}

// come joins the network of the run, if there are other nodes. lives: the run takes nodes that come late.
func come(ctx context.Context, o JoinOptions, lives bool) (*Nodes, error) {
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
	if !lives && (n.place.Late || n.place.Begin > 0 && n.place.Begin < n.place.Nodes) {
		return nil, errLate
	}
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
		return nil, err
	}
	return n, nil
}

// leave says that this process is no node of the run any more.
func (n *Nodes) leave() {
	if n.place.Left != nil {
		n.place.Left()
	}
}

// join joins the network.
func (n *Nodes) join(ctx context.Context, o JoinOptions) (err error) {
	p := n.place
	n.network, err = o.Network.Join(ctx, node.Options{
		Number: p.Node, Nodes: p.Nodes, Key: p.Key, Listen: p.Listen, Root: p.Root, Peers: p.Peers,
		Listening: n.listening(o.Log), Lease: o.Lease, Remote: o.Remote, Begin: p.Begin, Late: p.Late, Hold: true, Launched: p.How == launch.Spawned, Log: o.Log,
	})
	return err
}

// enter begins a life, on the nodes that n.node has.
func (n *Nodes) enter(ctx context.Context) (err error) {
	if n.node == nil {
		return nil
	}
	n.place.Node, n.place.Nodes = n.node.Number(), n.node.Nodes()
	if !n.many() {
		return nil
	}
	n.sent, n.looking.since = make([]atomic.Uint64, n.place.Nodes), make([]time.Time, n.place.Nodes)
	n.site, err = queue.NewSite(queue.SiteOptions{
		Node: queue.Node(n.place.Node), Nodes: n.place.Nodes, Incarnation: n.node.Since(), Transport: transport{n}, Suspected: n.silent, Memory: nodeMemory{n},
		Ended: n.grantsEnd, Later: later,
	})
	if err != nil {
		return err
	}
	n.node.OnLoss(n.lost)
	n.node.OnSuspect(n.suspect)
	n.node.OnApart(n.parted)
	err = errors.Join(
		n.node.Receive(resourceChannel, node.Receiver{Take: n.deliver, TakeLent: n.deliverLent, Swap: n.deliverSwap}),
		n.node.Receive(runChannel, node.Receiver{Take: n.told}),
		n.node.Receive(planChannel, node.Receiver{Take: n.planned}),
		n.node.Receive(copyChannel, node.Receiver{Take: n.copied}),
		n.node.Receive(lookChannel, node.Receiver{Take: n.looked}),
		n.node.Receive(cutChannel, node.Receiver{Take: n.cut, TakeLent: n.cutLent, Swap: n.cutSwap}))
	if err != nil {
		return err
	}
	return n.tellGround(ctx)
}

// tellGround tells the other nodes what this one stands on, and learns what they stand on.
func (n *Nodes) tellGround(ctx context.Context) error {
	mine := spread.Ground{Machine: n.node.Machine(), Processors: processors(), Process: os.Getpid()}
	mine.Host, _ = os.Hostname()
	tree := machine()
	for rank := range tree.Ranks() {
		if cpu, known := tree.CPU(topology.Rank(rank)); known {
			mine.CPUs = append(mine.CPUs, cpu)
		}
	}
	texts, err := n.Gather(ctx, "ground", mine.Encode())
	if err != nil {
		return err
	}
	n.grounds, err = spread.ParseGrounds(texts)
	n.processors = n.grounds.Processors()
	return err
}

// listening tells the launcher where this node listens.
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

// Run is a program on all nodes of its run: it joins the others, runs program, which
// declares and runs tasks as it would alone, and leaves when all have. For several nodes, the
// program imports package orwl/nodes.
//
//	err := orwl.Run(ctx, orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) error {
//		...
//		return rt.Run(ctx)
//	})
//
// A run of several nodes is a sequence of lives, if all its tasks are tasks of [Task.Each]. A life ends when a node is
// lost, comes or leaves, or turns out to be faster or slower than others. Then Run calls program again, on the nodes that are there, and the tasks go on from the last cut. So program declares the
// same each time, and keeps its state in resources. It may be called again also after it has returned nil.
//
// SIGTERM asks a node to leave. Its Run returns nil when the others have what it had, and program has not come to its end there.
func Run(ctx context.Context, o Options, program func(ctx context.Context, rt *Runtime) error) error {
	if o.Join.Log == nil {
		o.Join.Log = o.Log
	}
	n, err := come(ctx, o.Join, !o.Survive.Off)
	if err != nil {
		return err
	}
	if n.survival, err = newSurvival(o, n.network == nil); err != nil {
		return errors.Join(err, n.Close(ctx))
	}
	switch {
	case n.survival != nil:
		return n.lives(ctx, o, program)
	case n.network != nil:
		n.node = newLifeNode(n.network, 1, allSeats(n.place.Nodes), nil)
	}
	err = n.live(ctx, o, program)
	if lost := (*NodeError)(nil); n.network != nil && errors.As(err, &lost) && lost.Lost {
		_ = n.settle(ctx) // it may lose all others, one after another: then it is apart
		err = errors.Join(err, n.network.Apart())
	}
	return errors.Join(err, n.Close(context.WithoutCancel(ctx)))
}

// live runs the program once.
func (n *Nodes) live(ctx context.Context, o Options, program func(ctx context.Context, rt *Runtime) error) error {
	if err := n.enter(ctx); err != nil {
		return err
	}
	if s := n.survival; s != nil {
		s.origin = n.used()
	}
	o.Nodes = n
	rt, err := New(o)
	if err != nil {
		return err
	}
	if err = program(ctx, rt); err != nil {
		n.fail(err) // others may wait for this one to begin
	}
	return errors.Join(err, rt.Close())
}

// Meet gives a number to a process that knows only how many nodes there are: ORWL_JOIN, or a
// program's flag -join, says so. The process finds the others by their key: see nodes.Network.
// A place that has a number is returned as it is. It uses only Network and Log of o.
//
// [Join] calls it. A program that needs its number earlier calls it first:
//
//	place, err := launch.FromEnvironment()
//	...
//	place, err = orwl.Meet(ctx, place, orwl.JoinOptions{})
//	...
//	nodes, err := orwl.Join(ctx, orwl.JoinOptions{Place: &place})
func Meet(ctx context.Context, p launch.Place, o JoinOptions) (launch.Place, error) {
	if !p.Unmet {
		return p, nil
	}
	network, err := o.network(p)
	if err != nil {
		return p, err
	}
	seat, err := network.Meet(ctx, node.Party{Nodes: p.Nodes, Key: p.Key, Listen: anyPort(p.Listen), Log: o.Log})
	if err != nil {
		return p, err
	}
	p.Unmet, p.Node, p.Root, p.Left = false, seat.Number, seat.Root, seat.Close
	if p.Node == 0 {
		p.Report = func(address string) error {
			seat.Report(address)
			return nil
		}
	}
	return p, nil
}

// anyPort is the host of an address, with any port.
func anyPort(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(host, "0")
}
