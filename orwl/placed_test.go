package orwl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/placement"
)

// cellBytes is the size of a resource of gridOn.
const cellBytes = 4096

// pairProgram is three tasks: a writes x; b reads x and writes y; c reads y.
func pairProgram(rt *Runtime, each func(*Task)) {
	x, y := rt.Resource("x", 16), rt.Resource("y", 64)
	rt.Resource("z", 8)
	a, b, c := rt.Task("a"), rt.Task("b"), rt.Task("c")
	a.Write(x)
	b.Read(x)
	b.Write(y)
	c.Read(y)
	rt.Home(y, 0)
	a.On(0)
	b.On(1)
	c.On(1)
	for _, task := range rt.tasks {
		each(task)
	}
}

// gridOn is a program of one task for each cell of a square grid, as one of several nodes sees it. A
// task writes its cell and reads the four next to it. The nodes have no network.
func gridOn(t *testing.T, node, nodes, side int) *Runtime {
	t.Helper()
	rt := mustNew(t, Options{Nodes: &Nodes{place: launch.Place{Node: node, Nodes: nodes}}})
	name := func(i int) string { return fmt.Sprint("cell ", i) }
	order := rand.New(rand.NewPCG(4, 0)).Perm(side * side)
	for _, i := range order {
		rt.Resource(name(i), cellBytes)
	}
	for _, i := range order {
		task := rt.Task(name(i))
		task.Write(rt.Lookup(name(i)))
		for _, d := range []struct{ to, at int }{{-side, -1}, {side, -1}, {-1, 0}, {1, side - 1}} {
			if r := rt.Lookup(name(i + d.to)); r != nil && i%side != d.at {
				task.Read(r)
			}
		}
	}
	return rt
}

// Every node computes the same nodes of tasks and homes of resources.
func TestPlacementIsEqualOnEveryNode(t *testing.T) {
	const nodes = 4
	var first *Runtime
	for node := range nodes {
		rt := gridOn(t, node, nodes, 10)
		if err := rt.spreads(); err != nil {
			t.Fatal(err)
		}
		if node == 0 {
			first = rt
			continue
		}
		for i, task := range rt.tasks {
			if first.tasks[i].on != task.on {
				t.Errorf("task %s is on node %d, by node %d on node %d", task.name, first.tasks[i].on, node, task.on)
			}
		}
		for name, home := range rt.homes {
			if first.homes[name] != home {
				t.Errorf("the home of %s is node %d, by node %d it is node %d", name, first.homes[name], node, home)
			}
		}
	}
}

// Placement tells of the run that is running, from a body too.
func TestPlacementOfARun(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		if p := rt.Placement(); p.Tasks != nil {
			t.Errorf("before the run: %+v", p)
		}
		var seen inspect.Placement
		pairProgram(rt, func(task *Task) {
			task.Each(2, func(int) error {
				if task.name != "c" {
					seen = rt.Placement()
				}
				return nil
			})
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Errorf("node %d: %v", i, err)
			return
		}
		for j, want := range []inspect.TaskPlacement{{Task: "a", On: true, CPU: -1}, {Task: "b", Node: 1, On: true, CPU: -1}} {
			if j != i {
				want.Worker = -1
			}
			if seen.Tasks[j] != want {
				t.Errorf("node %d: %+v, want %+v", i, seen.Tasks[j], want)
			}
		}
		for j, want := range []inspect.ResourcePlacement{
			{Resource: "x", Bytes: 16, Task: "a"}, {Resource: "y", Bytes: 64, Declared: true}, {Resource: "z", Bytes: 8, Home: rt.homes["z"]},
		} {
			if seen.Resources[j] != want {
				t.Errorf("node %d: %+v, want %+v", i, seen.Resources[j], want)
			}
		}
		if seen.Crossing != 80 || seen.CrossingByIndex != 80 || seen.Node != i || seen.Nodes != 2 {
			t.Errorf("node %d: %+v", i, seen)
		}
	})
}

// A run sends as many bytes from node to node as Placement says. The first and the last
// round may differ.
func TestCrossingIsWhatGoesFromNodeToNode(t *testing.T) {
	const rounds = 50
	nodes := crew(t, 2)
	defer disband(t, nodes)
	var expected atomic.Int64
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		for _, name := range []string{"x", "y", "z"} {
			rt.Resource(name, cellBytes)
		}
		for j, name := range []string{"a", "b", "c", "d"} {
			task := rt.Task(name).On(j % 2)
			out := task.Write(rt.Lookup([]string{"x", "y", "z", "x"}[j]))
			task.Read(rt.Lookup([]string{"y", "z", "x", "z"}[j]))
			task.Each(rounds, func(round int) error {
				all := Write[uint64](out)
				for k := range all {
					all[k] = uint64(1+round*4+j) * 0x0101010101010101
				}
				return nil
			})
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Errorf("node %d: %v", i, err)
		}
		expected.Store(rt.Placement().Crossing)
	})
	sent := int64(nodes[0].Counts().BytesOut + nodes[1].Counts().BytesOut)
	t.Logf("%d bytes sent, %d a round", sent, expected.Load())
	if want := expected.Load() * rounds; sent < want-expected.Load() || sent > want+expected.Load() {
		t.Errorf("%d bytes went from node to node, want about %d", sent, want)
	}
}

// Why says what a task accesses, where that is kept, and what another node would change.
func TestWhyOfARun(t *testing.T) {
	rt := gridOn(t, 0, 2, 0)
	pairProgram(rt, func(*Task) {})
	if err := rt.spreads(); err != nil {
		t.Fatal(err)
	}
	p := rt.placement()
	for task, want := range map[string]string{
		"a": `
Task a runs on node 0: On.
  write x, 16 bytes, kept on node 0: where task a runs
All of that is kept on its node.
`, "b": `
Task b runs on node 1: On.
  read  x, 16 bytes, kept on node 0: where task a runs
  write y, 64 bytes, kept on node 0: Home
On node 0 it would change the bytes between nodes by -16 a round.
`} {
		got, err := p.Why(task)
		if err != nil || "\n"+got != want {
			t.Errorf("%v\n%s\nwant:%s", err, got, want)
		}
	}
	if _, err := p.Why("nobody"); !errors.Is(err, placement.ErrUnknownTask) || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("%v, want ErrUnknownTask", err)
	}
}

// String tells all tasks and resources.
func TestPlacementString(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := mustNew(t, Options{PinWorkers: true, tree: topology.FromCPUs([]topology.CPU{{Number: 3}})})
	x := rt.Resource("x", 16)
	rt.Resource("y", 8)
	task := rt.Task("first")
	task.Write(x)
	task.Each(1, idle)
	rt.Task("second").Read(x)
	if err := errors.Join(rt.spreads(), rt.seat()); err != nil {
		t.Fatal(err)
	}
	const want = `
2 tasks and 2 resources on 1 node, as node 0 knows it
0 bytes go from node to node in a round; with tasks dealt in their order it would be 0

task    node  worker  CPU  why
first   0     0       3    the only node
second  0     -       -    the only node

resource  home  bytes  why
x         0     16     where task first runs
y         0     8      no task accesses it: a hash of its name decides
`
	if got := rt.placement().String(); "\n"+got != want {
		t.Errorf("%s\nwant:%s", got, want)
	}
}

// Placement says where a program is too large to be placed, and what a placement saves.
func TestPlacementSaysHow(t *testing.T) {
	rt := gridOn(t, 0, 2, 6)
	if err := rt.spreads(); err != nil {
		t.Fatal(err)
	}
	p := rt.placement()
	if p.ByIndex || p.Crossing > 15*cellBytes || p.CrossingByIndex < 2*p.Crossing {
		t.Errorf("%d bytes cross, %d by index; by index %v", p.Crossing, p.CrossingByIndex, p.ByIndex)
	}
	if !strings.Contains(p.String(), "near the tasks that it shares with") {
		t.Error(p)
	}
	a := rt.tasks[0].accesses[0]
	rt.tasks[0].accesses = slices.Repeat([]*Access{a}, 262_145)
	if err := rt.spreads(); err != nil {
		t.Fatal(err)
	}
	if p := rt.placement(); !p.ByIndex || !strings.Contains(p.String(), "too large") {
		t.Errorf("by index %v", p.ByIndex)
	}
}

// Both counts of bytes are exact: a and b share little, a and c share much, and so do b and
// d. In their order a and b are on node 0.
func TestPlacementComparesWithDealing(t *testing.T) {
	const much, little = 1 << 16, 8
	rt := gridOn(t, 0, 2, 0)
	a, b, c, d := rt.Task("a"), rt.Task("b"), rt.Task("c"), rt.Task("d")
	for _, s := range []struct {
		name         string
		size         int
		writer, read *Task
	}{{"a-c", much, a, c}, {"b-d", much, b, d}, {"b-a", little, b, a}} {
		r := rt.Resource(s.name, s.size)
		s.writer.Write(r)
		s.read.Read(r)
	}
	if err := rt.spreads(); err != nil {
		t.Fatal(err)
	}
	if p := rt.placement(); p.Crossing != little || p.CrossingByIndex != 2*much {
		t.Errorf("%d bytes cross, %d by index, want %d and %d", p.Crossing, p.CrossingByIndex, little, 2*much)
	}
}

// TestMachinesOfARun has two machines with two nodes each. Every node knows them.
func TestMachinesOfARun(t *testing.T) {
	nodes := crewOf(t, 4, divided)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		for node, name := range []string{"a", "b", "c", "d"} {
			r := rt.Resource(name, 16)
			rt.Home(r, node)
			task := rt.Task(name).On((node + 1) % 4) // on the other machine
			task.Write(r)
			task.Each(1, idle)
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Errorf("node %d: %v", i, err)
			return
		}
		p := rt.Placement()
		const want = "64 of them go from machine to machine; the nodes of each machine: 0 2, 1 3\n"
		if fmt.Sprint(p.Machines) != "[[0 2] [1 3]]" || p.BetweenMachines != 64 || !strings.Contains(p.String(), want) {
			t.Errorf("node %d: %+v\n%s", i, p, p.String())
		}
	})
}
