package window

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
)

// Meet makes this node's part of a fabric, and returns when all nodes have made
// theirs. ctx bounds only that. A node has one fabric at a time.
//
// Nodes of one machine share memory if they can. Where none do, the fabric is an
// rma.Exposer. The nodes gather
//
//	plan of fabric      what each makes, and on which machine
//	memory of fabric    where the first node of each machine has made memory
//	fabric in memory    who could open it
//	fabric              all execute operations of others
//
// the second and the third if any nodes are on one machine, the last if operations are
// frames.
func Meet(ctx context.Context, n Node, o Options) (rma.Fabric, error) {
	o = o.withDefaults(n.Nodes())
	if err := o.validate(n.Nodes()); err != nil {
		return nil, err
	}
	f := &Fabric{node: n, o: o}
	f.stop = context.AfterFunc(o.Context, func() { f.fail(context.Cause(o.Context)) })
	m, err := f.meet(ctx)
	if err != nil {
		f.abandon(m)
		return nil, err
	}
	if f.shares() {
		return f, nil
	}
	return exposing{f}, nil
}

// meet meets the other nodes. It returns the memory of this machine also with an error.
func (f *Fabric) meet(ctx context.Context) (m memory, err error) {
	at := make([]int, f.o.Topology.Ranks())
	for p := range at {
		at[p] = f.o.Node(rma.Rank(p))
	}
	names, err := f.gatherPlans(ctx, at)
	if err != nil {
		return nil, err
	}
	f.arrange(at, names)
	if f.shares() {
		if m, err = f.share(ctx, names); err != nil {
			return m, err
		}
	}
	if m == nil {
		m, err = mem.New(mem.Options{Topology: f.o.Topology, Words: f.o.Words, Here: f.near})
		if err != nil {
			return nil, err
		}
	}
	if err := f.start(m); err != nil {
		return m, err
	}
	f.node.Operate(f)
	if !f.whole() {
		if _, err := f.node.Gather(ctx, "fabric", nil); err != nil { // before any node asks
			return m, err
		}
	}
	for i := range f.node.Nodes() { // some were lost before the fabric could be told
		if err := f.node.Lost(i); err != nil {
			f.Lost(i, err)
		}
	}
	return m, nil
}

// arrange makes the layout.
func (f *Fabric) arrange(at []int, names []string) {
	f.layout = newLayout(at, names)
	f.here = f.machine[f.node.Number()]
}

// abandon ends a fabric that was not made.
func (f *Fabric) abandon(m memory) {
	f.stop()
	f.fail(rma.ErrClosed)
	if m != nil {
		_ = m.Close() // its error is always nil
	}
}

// share has the nodes of each machine share memory. It returns the memory of this machine, nil if
// it has none. If one node of a machine cannot, no node of the machine does, and all nodes know.
func (f *Fabric) share(ctx context.Context, names []string) (memory, error) {
	m, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	var word []byte
	if m != nil {
		word = []byte("open")
	}
	answers, err := f.node.Gather(ctx, "fabric in memory", word)
	if err != nil {
		return asMemory(m), err
	}
	apart := make(map[int]bool) // machines
	for node, answer := range answers {
		if len(f.neighbours(node)) > 1 && string(answer) != "open" {
			apart[f.machine[node]] = true
		}
	}
	for node := range names {
		if apart[f.machine[node]] {
			names[node] = ""
		}
	}
	if m != nil && apart[f.here] {
		_ = m.Close() // its error is always nil
		m = nil
	}
	f.arrange(f.at, names)
	return asMemory(m), nil
}

// asMemory is nil if m is.
func asMemory(m *shm.Fabric) memory {
	if m == nil {
		return nil
	}
	return m
}

// open is the memory that the nodes of this machine share: nil if this node is alone, or
// cannot.
func (f *Fabric) open(ctx context.Context) (m *shm.Fabric, err error) {
	var place control.Place
	me, nodes := f.node.Number(), f.neighbours(f.node.Number())
	first := len(nodes) > 1 && nodes[0] == me
	if first {
		if m, place, err = f.create(); err != nil {
			f.node.Log().Debug("no windows in shared memory", "why", err)
		}
	}
	places, err := f.node.Gather(ctx, "memory of fabric", place.Bytes())
	if err != nil {
		if m != nil {
			_ = m.Close() // its error is always nil
		}
		return nil, err
	}
	if first || len(nodes) <= 1 {
		return m, nil
	}
	if place, err = control.ParsePlace(places[nodes[0]]); err == nil {
		m, err = f.join(place)
	}
	if err != nil {
		f.node.Log().Debug("no windows in shared memory", "why", err)
	}
	return m, nil
}

// gatherPlans is the names of all nodes' machines. The nodes must make the same fabric.
func (f *Fabric) gatherPlans(ctx context.Context, at []int) ([]string, error) {
	n := f.node
	mine := control.Site{Plan: fmt.Sprintf("%v with %d words each at nodes %v", f.o.Topology, f.o.Words, at)}
	if !f.o.Remote {
		mine.Machine = n.Machine()
	}
	blobs, err := n.Gather(ctx, "plan of fabric", mine.Bytes())
	if err != nil {
		return nil, err
	}
	names := make([]string, len(blobs))
	for i, blob := range blobs {
		if blob == nil {
			return nil, fmt.Errorf("p2p: no fabric without node %d: %w", i, n.Lost(i))
		}
		s, err := control.ParseSite(blob)
		if err != nil {
			return nil, fmt.Errorf("p2p: fabric of node %d: %w", i, err)
		}
		if s.Plan != mine.Plan {
			return nil, fmt.Errorf("p2p: node %d makes another fabric than node %d: give all nodes the same FabricOptions: %s; %s", i, n.Number(), s.Plan, mine.Plan)
		}
		names[i] = s.Machine
	}
	return names, nil
}
