package orwl

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p/p2ptest"
	"github.com/orwl/go-orwl/net/p2p/quic"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
	"github.com/orwl/go-orwl/resource"
)

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// crew are the nodes of a run, all in this process, over libp2p. A busy machine loses none.
func crew(t testing.TB, count int) []*Nodes {
	t.Helper()
	return crewWith(t, count, func(int) *slog.Logger { return silent })
}

// crewWith is a crew whose nodes have their own logs.
func crewWith(t testing.TB, count int, log func(node int) *slog.Logger) []*Nodes {
	t.Helper()
	return crewOf(t, count, func(node int, o *JoinOptions) { o.Log = log(node) })
}

// crewOf is a crew whose nodes join with other options.
func crewOf(t testing.TB, count int, change func(node int, o *JoinOptions)) []*Nodes {
	t.Helper()
	nodes := make([]*Nodes, count)
	errs := make([]error, count)
	address := make(chan string, 1)
	join := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		o := JoinOptions{Place: &p, Lease: time.Minute, Log: silent}
		change(i, &o)
		nodes[i], errs[i] = Join(context.Background(), o)
	}
	var all sync.WaitGroup
	all.Go(func() { join(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	for i := 1; i < count; i++ {
		all.Go(func() { join(i, launch.Place{Root: root}) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return nodes
}

// A node whose environment says another lease than the others' is told so.
func TestLeaseOfPlace(t *testing.T) {
	address := make(chan string, 1)
	ctx, cancel := context.WithCancel(context.Background())
	waits := make(chan error, 1)
	go func() {
		_, err := Join(ctx, JoinOptions{Log: silent, Place: &launch.Place{Nodes: 2, Listen: "127.0.0.1:0", Lease: 5 * time.Second,
			Report: func(a string) error { address <- a; return nil }}})
		waits <- err
	}()
	_, err := Join(ctx, JoinOptions{Log: silent, Place: &launch.Place{Node: 1, Nodes: 2, Listen: "127.0.0.1:0", Root: <-address}})
	if want := "its lease is 1.5s and its skew 250ms, those of node 0 are 5s and 250ms: give all the same"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("node 1: %v, want %q", err, want)
	}
	cancel()
	if err := <-waits; err == nil {
		t.Error("node 0 has joined alone")
	}
}

// All nodes know how many processors they have together. In this process they share them, unless they share no memory.
func TestProcessorsOfNodes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	cpus := 0
	for rank := range machine().Ranks() {
		if _, known := machine().CPU(topology.Rank(rank)); known {
			cpus++
		}
	}
	if cpus == 0 {
		cpus = math.MaxInt // they have no numbers
	}
	for _, c := range []struct {
		remote bool
		want   int
	}{{false, min(6, cpus)}, {true, 3 * min(2, cpus)}} {
		nodes := crewOf(t, 3, func(_ int, o *JoinOptions) { o.Remote = c.remote })
		for i, n := range nodes {
			if got := n.used(); got != c.want {
				t.Errorf("remote %v: node %d knows of %d processors, want %d", c.remote, i, got, c.want)
			}
		}
		disband(t, nodes)
	}
	if got := (*Nodes)(nil).used(); got != 2 {
		t.Errorf("a process alone has %d processors, want 2", got)
	}
}

// disband closes all nodes.
func disband(t testing.TB, nodes []*Nodes) {
	t.Helper()
	each(nodes, func(_ int, n *Nodes) {
		if err := n.Close(context.Background()); err != nil {
			t.Errorf("closing node %d: %v", n.Number(), err)
		}
	})
}

// each calls f for all nodes at once.
func each(nodes []*Nodes, f func(i int, n *Nodes)) {
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() { f(i, n) })
	}
	all.Wait()
}

// TestSequentialEquivalenceOnNodes is TestSequentialEquivalence with tasks and
// homes that are spread over nodes: it is still what running the tasks one after
// another would compute, bit for bit.
func TestSequentialEquivalenceOnNodes(t *testing.T) {
	equivalentOnNodes(t, plans(t, 5), func(int, *JoinOptions) {})
}

// TestSequentialEquivalenceOfCarriers lets the nodes stand on QUIC, and on hosts that a user has
// made.
func TestSequentialEquivalenceOfCarriers(t *testing.T) {
	hosts := func(listen string) func(node int, o *JoinOptions) {
		return func(node int, o *JoinOptions) {
			h, err := p2ptest.Host(nil, node, o.Place.Nodes, listen)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { h.Close() })
			o.Network = nodes.Network{Host: h}
		}
	}
	for name, change := range map[string]func(node int, o *JoinOptions){
		"QUIC":                 func(_ int, o *JoinOptions) { o.Network = nodes.Network{Carrier: quic.Carrier} },
		"a user's host":        hosts(p2ptest.TCP),
		"a user's host's QUIC": hosts(p2ptest.QUIC),
	} {
		t.Run(name, func(t *testing.T) { equivalentOnNodes(t, plans(t, 50), change) })
	}
}

func equivalentOnNodes(t *testing.T, seeds iter.Seq[uint64], change func(node int, o *JoinOptions)) {
	alive, dead := 0, 0
	for seed := range seeds {
		p := drawPlan(seed)
		if len(p.order()) < len(p.tasks) {
			dead++
			continue
		}
		alive++
		want := p.sequential()
		count := 2 + int(seed%3)
		nodes := crewOf(t, count, change)
		got := make([]outcome, count)
		seen := make([][]uint64, len(p.tasks))
		each(nodes, func(node int, n *Nodes) {
			rt := p.declare(t, Options{Nodes: n}, func(i int) func(*Task, int) error {
				return p.body(i, &seen[i], noise(seed<<8+uint64(i)))
			})
			for i, task := range rt.tasks {
				task.On(int(mix(seed+uint64(i)) % uint64(count)))
			}
			if seed%2 == 0 {
				for name, r := range rt.resources {
					rt.Home((*resource.Resource)(r.Resource), int(mix(seed^uint64(name[1]))%uint64(count)))
				}
			}
			if err := rt.Run(context.Background()); err != nil {
				t.Errorf("node %d: %v\nin %v", node, err, p)
				return
			}
			got[node] = p.result(t, rt, nil)
		})
		disband(t, nodes)
		p.agree(t, got, seen, want)
		if t.Failed() {
			return
		}
	}
	if alive == 0 && dead > few {
		t.Error("no plan lives: draw others")
	}
}

// TestFailureEndsAllNodes lets a task fail on one node. The runs on all others end,
// and say which and why.
func TestFailureEndsAllNodes(t *testing.T) {
	nodes := crew(t, 3)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		for j := range 3 {
			rt.Resource(name(j), 8)
		}
		for j := range 3 {
			task := rt.Task(name(j)).On(j)
			task.Write(rt.Lookup(name(j)))
			task.Read(rt.Lookup(name((j + 1) % 3)))
			task.Each(-1, func(round int) error {
				if j == 1 && round == 10 {
					return errPlanned
				}
				return nil
			})
		}
		err := rt.Run(context.Background())
		if i == 1 {
			if !errors.Is(err, errPlanned) {
				t.Errorf("node 1: %v", err)
			}
			return
		}
		var other *NodeError
		if !errors.As(err, &other) || other.Node != 1 || !strings.Contains(other.Text, errPlanned.Error()) {
			t.Errorf("node %d: %v, want that of node 1", i, err)
		}
	})
}

// TestInterruptEndsAllNodes ends the context on one node, which alone has been asked
// to stop. The runs on all others end, and say which and why.
func TestInterruptEndsAllNodes(t *testing.T) {
	nodes := crew(t, 3)
	defer disband(t, nodes)
	ctx, cancel := context.WithCancelCause(context.Background())
	each(nodes, func(i int, n *Nodes) {
		own := context.Background()
		if i == 1 {
			own = ctx
		}
		rt := mustNew(t, Options{Nodes: n})
		for j := range 3 {
			rt.Resource(name(j), 8)
		}
		for j := range 3 {
			task := rt.Task(name(j)).On(j)
			task.Write(rt.Lookup(name(j)))
			task.Read(rt.Lookup(name((j + 1) % 3)))
			task.Each(-1, func(round int) error {
				if j == 0 && round == 10 {
					cancel(errPlanned)
				}
				return nil
			})
		}
		err := rt.Run(own)
		if i == 1 {
			if !errors.Is(err, errPlanned) {
				t.Errorf("node 1: %v", err)
			}
			return
		}
		var other *NodeError
		if !errors.As(err, &other) || other.Node != 1 || !strings.Contains(other.Text, errPlanned.Error()) {
			t.Errorf("node %d: %v, want that of node 1", i, err)
		}
	})
}

// TestOtherPrograms lets nodes declare different programs. None of them runs.
func TestOtherPrograms(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		task := rt.Task("t")
		task.Write(rt.Resource("r", 8+8*i))
		task.Each(1, func(int) error { t.Error("a task runs"); return nil })
		if err := rt.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("node %d: %v", i, err)
		}
	})
}

// TestOneDoesNotBegin lets the program of one node fail before it has declared
// anything. The others wait for it to begin, and are told.
func TestOneDoesNotBegin(t *testing.T) {
	nodes := crew(t, 3)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		if i == 1 {
			n.fail(errPlanned) // Run does the same
			return
		}
		rt := mustNew(t, Options{Nodes: n})
		task := rt.Task("t")
		task.Write(rt.Resource("r", 8))
		task.Each(1, func(int) error { t.Error("a task runs"); return nil })
		var other *NodeError
		if err := rt.Run(context.Background()); !errors.As(err, &other) || other.Node != 1 {
			t.Errorf("node %d: %v, want that of node 1", i, err)
		}
	})
}

func TestNoSuchNode(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	rt.Home(r, 1)
	rt.Task("t").On(-1).Do(func(*Task) error { return nil })
	err := rt.Run(context.Background())
	if !errors.Is(err, errNode) {
		t.Errorf("%v, want errNode", err)
	}
	for _, want := range []string{`resource "r"`, `task "t"`, "1, want 0 to 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func name(i int) string { return string(rune('a' + i)) }
