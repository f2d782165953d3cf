package orwl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/orwl/internal/linked"
	"github.com/orwl/go-orwl/resource"
)

// worlds are how the nodes of a run in this process reach one another's memory.
var worlds = map[string]world{"shared memory": inMemory, "frames": byFrames, "two machines": divided}

type world func(node int, o *JoinOptions)

func inMemory(int, *JoinOptions)     {}
func byFrames(_ int, o *JoinOptions) { o.Remote = true }
func divided(node int, o *JoinOptions) {
	o.Network = onMachine{linked.Network, fmt.Sprintf("machine %d", node%2)}
}

// onMachine is a network whose node shares memory only with those that name the same machine.
type onMachine struct {
	node.Network
	name string
}

func (m onMachine) Join(ctx context.Context, o node.Options) (node.Node, error) {
	o.Machine = m.name
	return m.Network.Join(ctx, o)
}

// crewIn is a crew whose nodes reach memory as a world says.
func crewIn(t testing.TB, count int, in world) []*Nodes {
	t.Helper()
	return crewOf(t, count, in)
}

// Relaxed access from every node, beside tasks on every node and with each lock that can be
// the guard: every write counts once, and no half of one is seen. Users run three nodes with one
// guard, and fewer rounds.
func TestRelaxedFromEveryNode(t *testing.T) {
	rounds, guards, counts := rings.Of(20, 60, 60), []string{"RMA-RW", "foMPI-RW"}, []int{3, 2}
	if rings.Now() == rings.User {
		guards, counts = guards[:1], counts[:1]
	}
	for name, in := range worlds {
		for _, guard := range guards {
			for _, count := range counts {
				t.Run(fmt.Sprintf("%s of %d, %s", name, count, guard), func(t *testing.T) {
					nodes := crewIn(t, count, in)
					defer disband(t, nodes)
					o := Options{guard: guard, tl: 3, FaultPages: count == 3 && runtime.GOOS == "linux"}
					each(nodes, func(i int, n *Nodes) { everyNode(t, i, n, o, rounds) })
				})
			}
		}
	}
}

func everyNode(t *testing.T, node int, n *Nodes, o Options, rounds int) {
	o.Nodes = n
	rt := mustNew(t, o)
	all := []*resource.Resource{rt.Resource("a", 16), rt.Resource("b", 1<<17+3)}
	for _, r := range all {
		rt.Relaxed(r)
	}
	rt.Home(all[0], 1)
	rt.Home(all[1], 0)
	add := func(b []byte) error {
		for _, word := range [][]byte{b[:8], b[len(b)-8:]} {
			binary.NativeEndian.PutUint64(word, binary.NativeEndian.Uint64(word)+1)
		}
		return nil
	}
	same := func(b []byte) error {
		if x, y := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[len(b)-8:]); x != y {
			return fmt.Errorf("half a write: %d and %d", x, y)
		}
		return nil
	}
	begun, once := make(chan struct{}), new(sync.Once)
	for on := range rt.Nodes() {
		for i, r := range all {
			rt.Task(fmt.Sprintf("task %d on %d", i, on)).On(on).Do(func(task *Task) error {
				return byPair(task.Context(), r, rounds, func(b []byte) error {
					once.Do(func() { close(begun) })
					return errors.Join(same(b), add(b))
				})
			})
		}
	}
	ctx := context.Background()
	var beside sync.WaitGroup
	for _, r := range all {
		beside.Go(func() {
			<-begun
			for range rounds {
				if err := core(r).WriteRelaxed(ctx, add); err != nil {
					t.Errorf("node %d: a write of %s: %v", node, r.Name(), err)
					return
				}
				if err := core(r).ReadRelaxed(ctx, same); err != nil {
					t.Errorf("node %d: a read of %s: %v", node, r.Name(), err)
					return
				}
			}
		})
	}
	if err := rt.Run(ctx); err != nil {
		t.Errorf("node %d: %v", node, err)
	}
	beside.Wait()
	if _, err := n.Gather(ctx, "all have written", nil); err != nil {
		t.Error(err)
	}
	for _, r := range all {
		b, version, err := r.Snapshot(ctx, nil)
		if want := uint64(2 * rt.Nodes() * rounds); err != nil || version != want || binary.NativeEndian.Uint64(b) != want {
			t.Errorf("node %d: %s is %d in version %d, %v, want %d", node, r.Name(), binary.NativeEndian.Uint64(b), version, err, want)
		}
	}
	if _, err := n.Gather(ctx, "all have read", nil); err != nil {
		t.Error(err)
	}
}

// heldOpen is a run of one resource, with its home on node 1 of three, whose tasks wait until
// the function is called.
func heldOpen(t *testing.T, in world, program func(node int, n *Nodes, rt *Runtime, r *resource.Resource)) {
	nodes := crewIn(t, 3, in)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		r := rt.Resource("r", 64)
		rt.Relaxed(r)
		rt.Home(r, 1)
		for on := range 3 {
			rt.Task(name(on)).On(on).Do(func(task *Task) error {
				return byPair(task.Context(), r, 2, func([]byte) error { return nil })
			})
		}
		if err := rt.Run(context.Background()); err != nil {
			t.Errorf("node %d: %v", i, err)
		}
		program(i, n, rt, r)
	})
}

// A relaxed read on a node that is not the home sends one message for the bytes and none for
// the lock, if no writer has the guard; in shared memory it sends none at all. The first one
// after ordered accesses asks the home for the guard besides.
func TestRelaxedReadCost(t *testing.T) {
	for world, in := range worlds {
		heldOpen(t, in, func(node int, n *Nodes, _ *Runtime, r *resource.Resource) {
			ctx := context.Background()
			meet := func(what string) {
				if _, err := n.Gather(ctx, what, nil); err != nil {
					t.Error(err)
				}
			}
			read := func() {
				if err := core(r).ReadRelaxed(ctx, func([]byte) error { return nil }); err != nil {
					t.Errorf("%s, node %d: %v", world, node, err)
				}
			}
			read()
			meet("the guard is free")
			const reads = 50
			before := sent(n)
			if node == 0 {
				for range reads {
					read()
				}
				want := frames{requests: reads}
				if world == "shared memory" {
					want = frames{}
				}
				if got := sent(n).less(before); got != want {
					t.Errorf("%s: %d reads send %+v, want %+v", world, reads, got, want)
				}
			}
			meet("node 0 has read")
		})
	}
}

// frames are what a node has sent: operations that ask for bytes, other operations of windows,
// and messages.
type frames struct{ requests, operations, messages uint64 }

func sent(n *Nodes) (f frames) {
	traffic := n.Network().Traffic()
	for k := range wire.Kinds {
		switch frames := traffic.Out[k].Frames; {
		case wire.Kind(k) == wire.KindGetBytes:
			f.requests += frames
		case wire.Kind(k).Operation():
			f.operations += frames
		case wire.Kind(k) == wire.KindParcel || wire.Kind(k) == wire.KindLoan:
			f.messages += frames
		}
	}
	return f
}

func (f frames) less(g frames) frames {
	return frames{f.requests - g.requests, f.operations - g.operations, f.messages - g.messages}
}

// The runtime refuses relaxed access that it cannot give, and says what to do.
func TestRelaxedRefused(t *testing.T) {
	nodes := crewIn(t, 2, byFrames)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		declared, other := rt.Resource("declared", 8), rt.Resource("other", 8)
		rt.Relaxed(declared)
		rt.Home(other, 0)
		ctx := context.Background()
		if _, _, err := declared.Snapshot(ctx, nil); !errors.Is(err, inner.ErrEarly) {
			t.Errorf("before Run: %v", err)
		}
		if err := rt.Run(ctx); err != nil {
			t.Error(err)
		}
		_, _, err := other.Snapshot(ctx, nil)
		if i == 0 && err != nil || i == 1 && !errors.Is(err, errNotRelaxed) {
			t.Errorf("node %d, not declared: %v", i, err)
		}
		if _, _, err := declared.Snapshot(ctx, nil); err != nil {
			t.Errorf("node %d, declared: %v", i, err)
		}
		if _, err := n.Gather(ctx, "all have looked", nil); err != nil {
			t.Error(err)
		}
		if x := rt.relaxing.Load(); len(x.resources) != 1 || x.guards == nil {
			t.Errorf("%d guards, want one", len(x.resources))
		}
	})
}

// A run without relaxed access has no fabric.
func TestNoRelaxedNoFabric(t *testing.T) {
	nodes := crewIn(t, 2, byFrames)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		rt.Resource("r", 8)
		if err := rt.Run(context.Background()); err != nil {
			t.Error(err)
		}
		if rt.relaxing.Load().guards != nil {
			t.Errorf("node %d has a fabric", i)
		}
	})
}

// Declared relaxed access waits for no request, also in a run of one process.
func TestRelaxedAlone(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	rt.Relaxed(r)
	rt.Task("task").Do(func(task *Task) error {
		var waits queue.Place
		if err := waits.Request(core(r), queue.Write); err != nil {
			return err
		}
		return errors.Join(
			core(r).WriteRelaxed(task.Context(), func(b []byte) error { b[0] = 7; return nil }),
			waits.Cancel(),
			queue.Section(task.Context(), core(r), queue.Write, func(p *queue.Place) error {
				b, err := p.Bytes()
				if err == nil && b[0] != 7 {
					t.Errorf("byte %d, want 7", b[0])
				}
				return err
			}))
	})
	if err := rt.Run(context.Background()); err != nil {
		t.Error(err)
	}
}

// No task declares an access to a resource with relaxed access from every node.
func TestRelaxedHasNoOrder(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	rt.Relaxed(r)
	task := rt.Task("task")
	task.Read(r)
	task.Do(nothing)
	if err := rt.Run(t.Context()); !errors.Is(err, errRelaxed) || !strings.Contains(err.Error(), `task "task", to read "r"`) {
		t.Errorf("%v, want errRelaxed", err)
	}
}
