package window

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Fabric is all ranks of a run, on all its nodes. The memory of this node's ranks is
// reached directly, by their windows and by agents, which execute the operations of other
// nodes here; so it is a mem.Fabric in which the ranks of other nodes have no
// memory, but a window each.
//
// When a node is lost, so is the fabric.
type Fabric struct {
	node    Node
	o       Options
	local   *mem.Fabric
	at      []int     // the node of each rank
	windows []*Window // nil for ranks of other nodes
	agents  [][transport.Kinds]*agent

	failed atomic.Bool
	mu     sync.Mutex
	err    error // the first failure
}

var _ rma.Exposer = (*Fabric)(nil)

// newFabric makes this node's part of a fabric whose operations are frames.
func newFabric(n Node, o Options, at []int) (*Fabric, error) {
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
	f.agents = make([][transport.Kinds]*agent, n.Nodes())
	for peer := range f.agents {
		shared := &awaits{under: make(map[rma.Rank]*farAwait)}
		for lane := range f.agents[peer] {
			a := &agent{f: f, peer: peer, awaits: shared}
			a.Agent = engine.NewAgent(a)
			f.agents[peer][lane] = a
		}
	}
	context.AfterFunc(o.Context, func() { f.fail(context.Cause(o.Context)) })
	n.Operate(f)
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
	if err := mine(p, f.at, f.node.Number()); err != nil {
		return 0, err
	}
	return f.local.Expose(p, memory)
}

// Window implements rma.Fabric.
func (f *Fabric) Window(p rma.Rank) (rma.Window, error) {
	if err := mine(p, f.at, f.node.Number()); err != nil {
		return nil, err
	}
	return f.windows[p], nil
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

// Shut implements operations.
func (f *Fabric) Shut() { f.fail(rma.ErrClosed) }

// Lost is called when a node is, or has left, and its lanes' readers have ended.
func (f *Fabric) Lost(peer int, why error) {
	for _, w := range f.windows {
		if w != nil && w.from.Load() == int32(peer) {
			w.reading.Store(false)
			w.rouse()
		}
	}
	if err := lossOf(peer, f.at, why); err != nil {
		if !errors.Is(why, lane.ErrLeft) && !f.failed.Load() {
			f.node.Log().Warn("windows fail with a node that has ranks", "peer", peer, "rank", int(firstOf(peer, f.at)), "why", why)
		}
		f.fail(err)
	}
}
