package window

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/wire"
)

// Fabric is all ranks of a run, on all its nodes, as one node has it: the memory of its
// machine, and windows. If all ranks are on one machine, they are the windows of that
// memory.
//
// When a node is lost, so is the fabric.
type Fabric struct {
	node Node
	o    Options
	layout
	here    int             // this machine
	memory  memory          // of this machine
	windows []*Window       // of this node's ranks; none if all ranks are on one machine
	acting  []rma.Window    // of the ranks of other machines that this node acts for
	agents  [][lanes]*agent // by node
	stop    func() bool     // detaches the fabric from its context

	failed atomic.Bool
	mu     sync.Mutex
	err    error // the first failure
}

const lanes = transport.Kinds

// memory is the memory of one machine: a fabric of package mem for a node that is alone
// there, and otherwise one of package shm. All ranks of the run have a window on it, but only
// the ranks of the machine have memory in it.
type memory interface {
	rma.Fabric
	// Fail makes err the failure of its windows.
	Fail(err error)
}

// start makes the windows and the agents of a fabric whose memory is there.
func (f *Fabric) start(m memory) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.memory = m
	if !f.whole() {
		if err := f.makeWindows(); err != nil {
			return err
		}
		f.makeAgents()
	}
	if f.err != nil { // it has failed meanwhile
		m.Fail(f.err)
	}
	return nil
}

// makeWindows makes windows by which this node's ranks reach all machines, and windows by
// which it acts for ranks of other nodes.
func (f *Fabric) makeWindows() error {
	me := f.node.Number()
	f.windows, f.acting = make([]*Window, len(f.at)), make([]rma.Window, len(f.at))
	for p := range f.at {
		p := rma.Rank(p)
		if len(f.neighbours(me)) == 0 || f.agent(p, f.here) != me {
			continue
		}
		w, err := f.memory.Window(p)
		if err != nil {
			return err
		}
		if f.at[p] == me {
			f.windows[p] = newWindow(f, p, w)
		} else {
			f.acting[p] = w
		}
	}
	return nil
}

func (f *Fabric) makeAgents() {
	f.agents = make([][lanes]*agent, f.node.Nodes())
	for peer := range f.agents {
		shared := &awaits{under: make(map[rma.Rank]*farAwait)}
		for lane := range f.agents[peer] {
			a := &agent{f: f, peer: peer, awaits: shared}
			a.Agent = engine.NewAgent(a)
			f.agents[peer][lane] = a
		}
	}
}

// near reports whether the memory of a rank is on this machine.
func (f *Fabric) near(p rma.Rank) bool { return uint(p) < uint(len(f.on)) && f.on[p] == f.here }

// Topology implements rma.Fabric.
func (f *Fabric) Topology() *topology.Tree { return f.o.Topology }

// Alloc implements rma.Fabric. It is the same on all nodes if they all make the
// same allocations in the same order, and nothing has to be said about it.
func (f *Fabric) Alloc(words int) (rma.Disp, error) {
	if err := f.failure(); err != nil {
		return 0, err
	}
	return f.memory.Alloc(words)
}

// exposing is a fabric in which no nodes share memory.
type exposing struct{ *Fabric }

var _ rma.Exposer = exposing{}

// Expose implements rma.Exposer.
func (f exposing) Expose(p rma.Rank, words []uint64) (rma.Disp, error) {
	if err := f.failure(); err != nil {
		return 0, err
	}
	if err := f.mine(p); err != nil {
		return 0, err
	}
	return f.memory.(rma.Exposer).Expose(p, words)
}

// Window implements rma.Fabric.
func (f *Fabric) Window(p rma.Rank) (rma.Window, error) {
	if err := f.mine(p); err != nil {
		return nil, err
	}
	if f.windows == nil {
		return f.memory.Window(p)
	}
	return f.windows[p], nil
}

// mine is why a rank is not one of this node; or nil.
func (f *Fabric) mine(p rma.Rank) error {
	switch {
	case uint(p) >= uint(len(f.at)):
		return &rma.RankError{Rank: p, Ranks: len(f.at), Why: "ranks count from 0"}
	case f.at[p] != f.node.Number():
		return &rma.RankError{Rank: p, Ranks: len(f.at),
			Why: fmt.Sprintf("it lives on node %d, this is node %d", f.at[p], f.node.Number())}
	}
	return nil
}

// Close implements rma.Fabric. The node goes on, and answers others' operations by
// telling them that the fabric is closed.
func (f *Fabric) Close() error {
	f.stop()
	f.fail(rma.ErrClosed)
	return f.memory.Close()
}

// Shut implements Operations.
func (f *Fabric) Shut() { _ = f.Close() } // its error is always nil

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
// is why, even if another error was noticed first. The windows have an error before the memory ends a wait.
func (f *Fabric) fail(err error) {
	f.mu.Lock()
	if f.err == nil {
		f.err = err
		if f.o.Context.Err() != nil {
			f.err = context.Cause(f.o.Context)
		}
	}
	err, m, windows := f.err, f.memory, f.windows
	f.mu.Unlock()
	f.failed.Store(true)
	if m != nil {
		m.Fail(err)
	}
	for _, w := range windows {
		if w != nil {
			w.rouse()
		}
	}
}

// Lost implements Operations: a node is lost, or has left, and its lanes' readers have
// ended.
func (f *Fabric) Lost(peer int, why error) {
	for _, w := range f.windows {
		if w != nil && w.from.Load() == int32(peer) {
			w.reading.Store(false)
			w.rouse()
		}
	}
	p := f.first(peer)
	if p < 0 {
		return
	}
	if errors.Is(why, lane.ErrLeft) {
		f.fail(f.gone(peer))
		return
	}
	if !f.failed.Load() {
		f.node.Log().Warn("windows fail with a node that has ranks", "peer", peer, "rank", int(p), "why", why)
	}
	f.fail(&rma.PeerLostError{Rank: p, Why: why.Error()})
}

// failedAt is the failure of this fabric because an agent's has failed, as its reply says.
func (f *Fabric) failedAt(agent int, status wire.Status, value uint64) error {
	switch {
	case value == 0 || value > uint64(len(f.at)):
		return f.gone(agent)
	case status == wire.Closed:
		return f.gone(f.at[value-1])
	}
	return &rma.PeerLostError{Rank: rma.Rank(value - 1), Why: fmt.Sprintf("node %d has found out", agent)}
}

// gone is the failure because of a node that has closed its fabric.
func (f *Fabric) gone(peer int) error {
	return fmt.Errorf("%w: %w", &rma.PeerLostError{Rank: f.first(peer), Why: fmt.Sprintf("node %d has left", peer)}, rma.ErrClosed)
}

// first is the first rank of a node, or -1.
func (f *Fabric) first(node int) rma.Rank {
	for p, home := range f.at {
		if home == node {
			return rma.Rank(p)
		}
	}
	return -1
}

// Options describe a fabric over the nodes of a run. They are the same on all
// of them.
type Options struct {
	// Topology has the ranks as its leaves. Required.
	Topology *topology.Tree
	// Node is the node on which a rank lives. By default the ranks are dealt out in
	// order, as many to each node as to the next, or one more.
	Node func(p rma.Rank) int
	// Words is the size of each rank's symmetric memory; mem.DefaultWords if zero.
	Words int
	// Remote has operations between nodes go through frames, also where nodes are on one
	// machine and could share memory.
	Remote bool
	// Context ends the fabric when it is done: its error becomes every window's
	// failure. Never, if nil.
	Context context.Context
}

func (o Options) withDefaults(nodes int) Options {
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

func (o Options) validate(nodes int) error {
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

// Node is the node that has the windows, as they see it.
type Node interface {
	// Number is the number of the node, of so many Nodes.
	Number() int
	Nodes() int
	// Machine is the name of the node's machine: nodes whose machines have the same name may
	// share memory. It is empty if the node shares none.
	Machine() string
	// Log is told what goes wrong.
	Log() *slog.Logger
	// Lane is a lane to another node.
	Lane(to int, kind transport.Kind) *lane.Lane
	// Gather gives every node what all nodes have given under a name: it is a barrier.
	Gather(ctx context.Context, name string, blob []byte) ([][]byte, error)
	// Lost is why a node is gone, nil if it is not.
	Lost(number int) error
	// Operate says who executes the operations of other nodes, and hears of losses.
	Operate(o Operations)
}

// Operations is a fabric, as the node sees it.
type Operations interface {
	lane.Operations
	// Shut is told that this node is closed.
	Shut()
	// Lost is told of a node that is gone, after everything that came from it.
	Lost(peer int, why error)
}
