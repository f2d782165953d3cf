package p2p

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
	"github.com/orwl/go-orwl/net/p2p/quic"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// world is a fabric whose nodes are all in this process: what is issued by one
// rank to the next passes through libp2p, and the suites find all ranks' windows.
type world struct {
	nodes   []*Node
	fabrics []rma.Fabric
}

// machines is on how many machines the nodes of a world are: the first ones on the first.
// Without any, each node shares nothing.
type machines int

const apart machines = 0

// of has a node of so many be on its machine.
func (m machines) of(nodes int) func(o *Options) {
	return func(o *Options) {
		if o.Remote = m == apart; m > 1 {
			o.Machine = fmt.Sprintf("machine %d", o.Number*int(m)/nodes)
		}
	}
}

// newWorld starts nodes and spreads the ranks over them.
func newWorld(t testing.TB, nodes int, on machines, o FabricOptions) *world {
	t.Helper()
	return worldOf(t, run(t, nodes, on.of(nodes)), o)
}

// worldOf spreads the ranks over nodes in turn, so that neighbours are on different ones.
func worldOf(t testing.TB, nodes []*Node, o FabricOptions) *world {
	t.Helper()
	o.Node = func(p rma.Rank) int { return int(p) % len(nodes) }
	w := &world{nodes, make([]rma.Fabric, len(nodes))}
	errs := make([]error, len(nodes))
	var making sync.WaitGroup
	for i, n := range w.nodes {
		making.Go(func() { w.fabrics[i], errs[i] = n.Fabric(soon(t), o) })
	}
	making.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) Topology() *topology.Tree { return w.fabrics[0].Topology() }

func (w *world) Alloc(words int) (at rma.Disp, err error) {
	for i, f := range w.fabrics {
		disp, e := f.Alloc(words)
		if i > 0 && (disp != at || (e == nil) != (err == nil)) {
			return 0, fmt.Errorf("node %d allocates %d words at %v, %v, others at %v, %v", i, words, disp, e, at, err)
		}
		at, err = disp, e
	}
	return at, err
}

// exposer is a world whose fabrics are rma.Exposers.
type exposer struct{ *world }

func (w *exposer) Expose(p rma.Rank, memory []uint64) (rma.Disp, error) {
	return w.fabrics[max(int(p), 0)%len(w.fabrics)].(rma.Exposer).Expose(p, memory)
}

func (w *world) Window(p rma.Rank) (rma.Window, error) {
	return w.fabrics[max(int(p), 0)%len(w.fabrics)].Window(p)
}

func (w *world) Close() error {
	var errs error
	for _, f := range w.fabrics {
		errs = errors.Join(errs, f.Close())
	}
	return errs
}

// inWorld starts so many nodes, and makes fabrics of them for a suite. The nodes meet once: each
// case has a fabric of its own.
func inWorld(t testing.TB, count int, on machines) func(t testing.TB, o rmatest.Options) rma.Fabric {
	nodes := run(t, count, on.of(count))
	return func(t testing.TB, o rmatest.Options) rma.Fabric {
		w := worldOf(t, nodes, FabricOptions{Topology: o.Topology, Words: o.Words, Context: o.Context})
		_, exposes := w.fabrics[0].(rma.Exposer)
		if exposes != (on == apart || o.Topology.Ranks() == 1) {
			t.Fatalf("the fabrics on %d machines are %T", on, w.fabrics[0])
		}
		if exposes {
			return &exposer{w}
		}
		return w
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	rmatest.Run(t, inWorld(t, 2, apart))
}

// carried are the ways of nodes to meet, beside the usual one.
func carried(t testing.TB) map[string]func(o *Options) {
	by := func(listen string) func(o *Options) {
		return func(o *Options) { o.Host = userHost(t, o.Number, o.Nodes, listen) }
	}
	return map[string]func(o *Options){
		"QUIC":                 func(o *Options) { o.Carrier = quic.Carrier },
		"a user's host":        by(p2ptest.TCP),
		"a user's host's QUIC": by(p2ptest.QUIC),
	}
}

// TestConformanceOfCarriers runs the suite by every carrier, and on hosts that users have made. In
// every ring TestCarriers, TestUserHosts and TestHostileFrames send by them.
func TestConformanceOfCarriers(t *testing.T) {
	rings.Needs(t, rings.Change)
	for name, change := range carried(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := run(t, 2, change)
			rmatest.Run(t, func(t testing.TB, o rmatest.Options) rma.Fabric {
				return &exposer{worldOf(t, nodes, FabricOptions{Topology: o.Topology, Words: o.Words, Context: o.Context, Remote: true})}
			})
		})
	}
}

// TestConformanceManyRanks has more ranks than nodes, so that some are neighbours on one. In every
// ring TestMixedConformanceManyRanks has as many.
func TestConformanceManyRanks(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	rmatest.RunRanks(t, 9, inWorld(t, 3, apart))
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	rmatest.Lifecycle(t, inWorld(t, 2, apart))
}

// TestRanksOfOthers asks for windows that are on other nodes.
func TestRanksOfOthers(t *testing.T) {
	for _, on := range []machines{apart, 1, 2} {
		ranksOfOthers(t, newWorld(t, 2, on, FabricOptions{Topology: topology.Flat(4), Words: 8}))
	}
}

func ranksOfOthers(t *testing.T, w *world) {
	for p := range rma.Rank(4) {
		_, err := w.fabrics[1-p%2].Window(p)
		var e *rma.RankError
		if !errors.As(err, &e) || e.Rank != p {
			t.Errorf("the window of rank %d on the other node: %v", p, err)
		}
	}
}

// TestClosedElsewhere closes one node's fabric. The other's ranks are told at their
// next operation on it, and not before.
func TestClosedElsewhere(t *testing.T) {
	w := newWorld(t, 2, apart, FabricOptions{Topology: topology.Flat(2), Words: 8})
	at, err := w.Alloc(1)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := w.Window(1)
	if err := w.fabrics[0].Close(); err != nil {
		t.Fatal(err)
	}
	if one.Put(1, at, 7); one.Get(1, at) != 7 || one.Err() != nil {
		t.Errorf("own memory after the other node's Close: %v", one.Err())
	}
	if got := one.Get(0, at); got != 0 {
		t.Errorf("Get of what is closed returned %d", got)
	}
	_, err = one.Await(context.Background(), 1, at, rma.Is(8))
	for _, err := range []error{err, one.Err()} {
		if !errors.Is(err, rma.ErrPeerLost) || !errors.Is(err, rma.ErrClosed) {
			t.Errorf("after an operation on what is closed: %v", err)
		}
	}
}
