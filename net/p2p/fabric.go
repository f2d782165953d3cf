package p2p

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// FabricOptions describe a fabric over the nodes of a run. They are the same on all
// of them.
type FabricOptions struct {
	// Topology has the ranks as its leaves. Required.
	Topology *topology.Tree
	// Node is the node on which a rank lives. By default the ranks are dealt out in
	// order, as many to each node as to the next, or one more.
	Node func(p rma.Rank) int
	// Words is the size of each rank's symmetric memory; mem.DefaultWords if zero.
	Words int
	// Remote has all windows go through frames, also if all nodes are on one machine
	// and could share memory.
	Remote bool
	// Context ends the fabric when it is done: its error becomes every window's
	// failure. Never, if nil.
	Context context.Context
}

func (o FabricOptions) withDefaults(nodes int) FabricOptions {
	if o.Words == 0 {
		o.Words = mem.DefaultWords
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Node == nil && o.Topology != nil {
		ranks := o.Topology.Ranks()
		o.Node = func(p rma.Rank) int { return int(p) * nodes / ranks }
	}
	return o
}

func (o FabricOptions) validate(nodes int) error {
	if o.Topology == nil {
		return fmt.Errorf("p2p: FabricOptions.Topology is nil: give the tree of ranks, for instance topology.Flat(8)")
	}
	for p := range rma.Rank(o.Topology.Ranks()) {
		if n := o.Node(p); n < 0 || n >= nodes {
			return fmt.Errorf("p2p: FabricOptions.Node puts rank %d on node %d, want 0 to %d", p, n, nodes-1)
		}
	}
	return nil
}

// Fabric is all ranks of a run, on all its nodes. The memory of this node's ranks is
// reached directly, by theirs as by those of other nodes, whose operations agents
// execute here; so it is a mem.Fabric in which the ranks of other nodes have no
// memory, but a window each.
//
// When a node is lost, so is the fabric.
type Fabric struct {
	node    *Node
	o       FabricOptions
	local   *mem.Fabric
	at      []int     // the node of each rank
	windows []*Window // nil for ranks of other nodes
	agents  [][laneKinds]*agent

	failed atomic.Bool
	mu     sync.Mutex
	err    error // the first failure
}

var _ rma.Exposer = (*Fabric)(nil)

// Fabric makes this node's part of the fabric, and returns when all nodes have made
// theirs. ctx bounds only that. A node has one fabric at a time.
//
// If all nodes are on one machine it is in memory that they share; otherwise it is a
// *[Fabric], which is an rma.Exposer, too.
func (n *Node) Fabric(ctx context.Context, o FabricOptions) (rma.Fabric, error) {
	o = o.withDefaults(n.Nodes())
	if err := o.validate(n.Nodes()); err != nil {
		return nil, err
	}
	at := make([]int, o.Topology.Ranks())
	for p := range at {
		at[p] = o.Node(rma.Rank(p))
	}
	m, mine := n.newMachineFabric(o, at)
	mine.plan = fmt.Sprintf("%v with %d words each at nodes %v", o.Topology, o.Words, at)
	all, err := n.gatherSites(ctx, mine)
	if err != nil {
		if m != nil {
			m.abandon()
		}
		return nil, err
	}
	if m, err = n.meetOnMachine(ctx, o, m, all); err != nil {
		return nil, err
	}
	if m != nil {
		return m, nil
	}
	f, err := n.newFabric(o, at)
	if err != nil {
		return nil, err
	}
	if _, err := n.Gather(ctx, "fabric", nil); err != nil { // nobody asks for what is not there
		f.fail(err)
		return nil, err
	}
	n.tellLosses(f)
	return f, nil
}

// tellLosses tells a fabric of nodes that were gone before it could be told.
func (n *Node) tellLosses(f operations) {
	for i := range n.peers {
		if err := n.Lost(i); err != nil {
			f.lost(i, err)
		}
	}
}

// gatherSites is what all nodes say of themselves, who are to make the same fabric.
func (n *Node) gatherSites(ctx context.Context, mine site) ([]site, error) {
	blobs, err := n.Gather(ctx, "plan of fabric", mine.append())
	if err != nil {
		return nil, err
	}
	all := make([]site, len(blobs))
	for i, blob := range blobs {
		if blob == nil {
			return nil, fmt.Errorf("p2p: no fabric without node %d: %w", i, n.Lost(i))
		}
		if all[i], err = parseSite(blob); err != nil {
			return nil, fmt.Errorf("p2p: fabric of node %d: %w", i, err)
		}
		if all[i].plan != mine.plan {
			return nil, fmt.Errorf("p2p: node %d makes another fabric than node %d: give all nodes the same FabricOptions: %s; %s", i, n.Number(), all[i].plan, mine.plan)
		}
	}
	return all, nil
}

// newFabric makes this node's part of a fabric whose operations are frames.
func (n *Node) newFabric(o FabricOptions, at []int) (*Fabric, error) {
	f := &Fabric{node: n, o: o, at: at, windows: make([]*Window, len(at))}
	var err error
	f.local, err = mem.New(mem.Options{Topology: o.Topology, Words: o.Words, Here: f.here})
	if err != nil {
		return nil, err
	}
	for p := range f.windows {
		if f.here(rma.Rank(p)) {
			f.windows[p] = newWindow(f, rma.Rank(p))
		}
	}
	f.agents = make([][laneKinds]*agent, n.Nodes())
	for peer := range f.agents {
		shared := &awaits{under: make(map[rma.Rank]*farAwait)}
		for lane := range f.agents[peer] {
			a := &agent{f: f, peer: peer, awaits: shared}
			a.Agent = engine.NewAgent(a)
			f.agents[peer][lane] = a
		}
	}
	context.AfterFunc(o.Context, func() { f.fail(context.Cause(o.Context)) })
	n.operate(f)
	return f, nil
}

// here reports whether a rank lives on this node.
func (f *Fabric) here(p rma.Rank) bool {
	return uint(p) < uint(len(f.at)) && f.at[p] == f.node.Number()
}

// Topology implements rma.Fabric.
func (f *Fabric) Topology() *topology.Tree { return f.o.Topology }

// Alloc implements rma.Fabric. It is the same on all nodes if they all make the
// same allocations in the same order, and nothing has to be said about it.
func (f *Fabric) Alloc(words int) (rma.Disp, error) {
	if err := f.failure(); err != nil {
		return 0, err
	}
	return f.local.Alloc(words)
}

// Expose implements rma.Exposer.
func (f *Fabric) Expose(p rma.Rank, memory []uint64) (rma.Disp, error) {
	if err := f.failure(); err != nil {
		return 0, err
	}
	if err := mine(p, f.at, f.node.number); err != nil {
		return 0, err
	}
	return f.local.Expose(p, memory)
}

// Window implements rma.Fabric.
func (f *Fabric) Window(p rma.Rank) (rma.Window, error) {
	if err := mine(p, f.at, f.node.number); err != nil {
		return nil, err
	}
	return f.windows[p], nil
}

// mine is why a rank is not one of a node, by the nodes that ranks are at; or nil.
func mine(p rma.Rank, at []int, node int) error {
	switch {
	case uint(p) >= uint(len(at)):
		return &rma.RankError{Rank: p, Ranks: len(at), Why: "ranks count from 0"}
	case at[p] != node:
		return &rma.RankError{Rank: p, Ranks: len(at), Why: fmt.Sprintf("it lives on node %d, this is node %d", at[p], node)}
	}
	return nil
}

// Close implements rma.Fabric. The node goes on, and answers others' operations by
// telling them that the fabric is closed.
func (f *Fabric) Close() error {
	f.fail(rma.ErrClosed)
	return nil
}

// failure is why the fabric has ended, or nil.
func (f *Fabric) failure() error {
	if !f.failed.Load() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// fail ends the fabric for this node's ranks. If its context has ended, then that
// is why, whoever notices first.
func (f *Fabric) fail(err error) {
	f.mu.Lock()
	if f.err == nil {
		f.err = err
		if f.o.Context.Err() != nil {
			f.err = context.Cause(f.o.Context)
		}
		f.failed.Store(true)
	}
	f.mu.Unlock()
	_ = f.local.Close() // its error is always nil
	for _, w := range f.windows {
		if w != nil {
			w.rouse()
		}
	}
}

// errGone is the failure because of a node that has closed its fabric.
func (f *Fabric) errGone(peer int) error { return errGoneFrom(firstOf(peer, f.at), peer) }

func errGoneFrom(p rma.Rank, peer int) error {
	return fmt.Errorf("%w: %w", &rma.PeerLostError{Rank: p, Why: fmt.Sprintf("node %d has left", peer)}, rma.ErrClosed)
}

// lossOf is the failure because of a node that is lost, or has left; nil if it has no
// ranks.
func lossOf(peer int, at []int, why error) error {
	p := firstOf(peer, at)
	switch {
	case p < 0:
		return nil
	case errors.Is(why, ErrLeft):
		return errGoneFrom(p, peer)
	}
	return &rma.PeerLostError{Rank: p, Why: why.Error()}
}

// shut implements operations.
func (f *Fabric) shut() { f.fail(rma.ErrClosed) }

// lost is called when a node is, or has left, and its lanes' readers have ended.
func (f *Fabric) lost(peer int, why error) {
	for _, w := range f.windows {
		if w != nil && w.from.Load() == int32(peer) {
			w.reading.Store(false)
			w.rouse()
		}
	}
	if err := lossOf(peer, f.at, why); err != nil {
		f.fail(err)
	}
}

// firstOf is the first rank of a node, or -1.
func firstOf(node int, at []int) rma.Rank {
	for p, home := range at {
		if home == node {
			return rma.Rank(p)
		}
	}
	return -1
}
