package orwl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/resource"
)

// back has a node of a crew come back.
func back(t *testing.T, number int, nodes []*Nodes) *Nodes {
	t.Helper()
	n, err := Join(t.Context(), JoinOptions{
		Late: true, Lease: time.Minute, Log: silent,
		Place: &launch.Place{Node: number, Nodes: len(nodes), Listen: "127.0.0.1:0", Root: nodes[0].node.Address()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// leaveEarly has a node leave before its run ends.
func leaveEarly(n *Nodes) error {
	err := n.node.Close(context.Background())
	for peer := range n.Count() { // the network says nothing of peers any more
		if peer != n.Number() {
			n.site.Away(resource.Node(peer), errLeft)
		}
	}
	return err
}

// allThree is a phase in which each of three nodes adds to a resource of node 2, and to one of node 0.
func allThree(ctx context.Context, rt *Runtime, name string) error {
	return rt.Phase(ctx, func(p *Phase) {
		sum := p.Resource(name, 8)
		for on := range 3 {
			add := p.Task(fmt.Sprint("add ", on)).On(on)
			shared := add.Write(rt.Lookup("shared"))
			own := add.Write(sum)
			add.Each(5, func(int) error {
				Write[uint64](shared)[0]++
				Write[uint64](own)[0]++
				return nil
			})
		}
		p.Task("home").On(2).Do(func(*Task) error { return nil })
	})
}

// check looks at a resource, and waits until all nodes have.
func check(ctx context.Context, rt *Runtime, name string, want uint64) error {
	v, err := Values[uint64](ctx, rt.Lookup(name))
	if err != nil || v[0] != want {
		return fmt.Errorf("node %d: %q is %v, %v, want %d", rt.Node(), name, v, err, want)
	}
	return nil
}

// TestComesBackToPhases has node 2 of three leave, and come back. Phases run on all three nodes
// before and after. What had its home there stays lost, on all nodes.
func TestComesBackToPhases(t *testing.T) {
	nodes := crew(t, 3)
	program := func(n *Nodes) *Runtime {
		rt := mustNew(t, Options{Nodes: n, AtLoss: GoOn})
		rt.Home(rt.Resource("shared", 8), 0)
		rt.Home(rt.Resource("kept", 8), 2)
		return rt
	}
	callers := func(rt *Runtime, do func(*Task) error) {
		for on := range 3 {
			rt.Task(fmt.Sprint("caller ", on)).On(on).Do(do)
		}
	}
	after := func(ctx context.Context, rt *Runtime) error {
		for {
			err := allThree(ctx, rt, "after")
			if errors.Is(err, resource.ErrLost) {
				continue // node 2 is not back
			}
			if err != nil {
				return err
			}
			break
		}
		err := errors.Join(check(ctx, rt, "shared", 30), check(ctx, rt, "after", 15))
		if _, lost := Values[uint64](ctx, rt.Lookup("kept")); !errors.Is(lost, resource.ErrLost) {
			err = errors.Join(err, fmt.Errorf("node %d: what node 2 kept: %w", rt.Node(), lost))
		}
		return errors.Join(err, rt.Phase(ctx, func(*Phase) {}))
	}
	var began time.Time
	var all sync.WaitGroup
	left := make(chan struct{})
	for i, n := range nodes {
		rt := program(n)
		callers(rt, func(task *Task) error {
			if err := allThree(task.Context(), rt, "before"); err != nil {
				return err
			}
			if i == 2 {
				began = time.Now()
				defer close(left)
				return leaveEarly(n)
			}
			return after(task.Context(), rt)
		})
		all.Go(func() {
			if err := rt.Run(t.Context()); err != nil && i != 2 {
				t.Errorf("node %d: %v", i, err)
			}
		})
	}
	<-left
	nodes[2] = back(t, 2, nodes)
	if a, b := nodes[2].Processors(), nodes[0].Processors(); a != b {
		t.Errorf("a late node knows of %d processors, and the others of %d", a, b)
	}
	rt := program(nodes[2])
	callers(rt, func(*Task) error { t.Error("a task of before runs again"); return nil })
	rt.Late(func(ctx context.Context) error {
		err := after(ctx, rt)
		t.Logf("node 2 has left, come back, and ran a phase with the others in %v", time.Since(began).Round(time.Millisecond))
		return err
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Errorf("node 2: %v", err)
	}
	all.Wait()
	disband(t, nodes)
}

// census is a phase of six tasks without a node. Each writes in a word of ran which node it runs on.
func census(ctx context.Context, rt *Runtime, ran *resource.Resource) (tasks map[int]int, err error) {
	err = rt.Phase(ctx, func(p *Phase) {
		for i := range 6 {
			t := p.Task(fmt.Sprint("task ", i))
			w := t.Write(ran)
			t.Each(1, func(int) error {
				Write[uint64](w)[i] = uint64(rt.Node())
				return nil
			})
		}
	})
	if err != nil {
		return nil, err
	}
	words, err := Values[uint64](ctx, ran)
	tasks = make(map[int]int)
	for _, node := range words {
		tasks[int(node)]++
	}
	return tasks, err
}

// TestJoinsBetweenPhases begins a run of four numbers with two nodes. Another one comes late, by each of the two
// other numbers. The next phases have tasks there, too.
func TestJoinsBetweenPhases(t *testing.T) {
	nodes := crewOf(t, 2, func(_ int, o *JoinOptions) { o.Place.Nodes, o.Place.Begin = 4, 2 })
	began := make(chan struct{})
	var once sync.Once
	life := func(n *Nodes) error {
		rt := mustNew(t, Options{Nodes: n})
		ran := rt.Resource("ran", 6*8)
		rt.Home(ran, 0)
		callers := func(ctx context.Context) error {
			before := 0
			for {
				tasks, err := census(ctx, rt, ran)
				if err != nil {
					return err
				}
				if before > len(tasks) || len(tasks) == 3 && tasks[2]+tasks[3] != 2 {
					return fmt.Errorf("tasks by node: %v after %d nodes", tasks, before)
				}
				if before = len(tasks); before == 4 {
					return nil
				}
				once.Do(func() { close(began) })
			}
		}
		for on := range rt.Begin() {
			rt.Task(fmt.Sprint("caller ", on)).On(on).Do(func(t *Task) error { return callers(t.Context()) })
		}
		rt.Late(callers)
		return rt.Run(t.Context())
	}
	var all sync.WaitGroup
	run := func(n *Nodes) {
		all.Go(func() {
			if err := life(n); err != nil {
				t.Errorf("node %d: %v", n.Number(), err)
			}
		})
	}
	run(nodes[0])
	run(nodes[1])
	<-began
	for _, number := range []int{3, 2} {
		n, err := Join(t.Context(), JoinOptions{
			Late: true, Lease: time.Minute, Log: silent,
			Place: &launch.Place{Node: number, Nodes: 4, Begin: 2, Listen: "127.0.0.1:0", Root: nodes[0].node.Address()},
		})
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
		run(n)
	}
	all.Wait()
	disband(t, nodes)
}

// A late node waits until those that begin have begun: they gather before.
func TestLateWaitsForBegin(t *testing.T) {
	nodes := crewOf(t, 2, func(_ int, o *JoinOptions) { o.Place.Nodes, o.Place.Begin = 3, 2 })
	told := false // the launcher, that the late node is in
	late := func(patience time.Duration) (*Nodes, error) {
		return Join(t.Context(), JoinOptions{
			Late: true, Lease: time.Minute, Patience: patience, Log: silent,
			Place: &launch.Place{
				Node: 2, Nodes: 3, Begin: 2, Listen: "127.0.0.1:0", Root: nodes[0].node.Address(),
				Report: func(string) error { return nil }, GoOn: func() error { told = true; return nil },
			},
		})
	}
	if _, err := late(100 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "the run has not begun") {
		t.Errorf("before the run: %v", err)
	}
	in := make(chan struct{})
	program := func(n *Nodes) *Runtime {
		rt := mustNew(t, Options{Nodes: n})
		for on := range rt.Begin() {
			rt.Task(fmt.Sprint("waits ", on)).On(on).Do(func(*Task) error { <-in; return nil })
		}
		rt.Late(func(context.Context) error { close(in); return nil })
		return rt
	}
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			if err := program(n).Run(t.Context()); err != nil {
				t.Errorf("node %d: %v", i, err)
			}
		})
	}
	n, err := late(time.Minute)
	if err == nil {
		err = program(n).Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if !told {
		t.Error("the launcher does not know that the late node is in, and would end it when the others have ended")
	}
	disband(t, append(nodes, n))
}

// What needs a node that does not begin is refused before anything runs. Node 1 finds it by itself,
// although node 0 has told it by then that the run has ended.
func TestAbsentNodes(t *testing.T) {
	nodes := crewOf(t, 2, func(_ int, o *JoinOptions) { o.Place.Nodes, o.Place.Begin = 3, 2 })
	told := make(chan struct{})
	nodes[1].fate.Begin(func(error) { close(told) }, false)
	for i, n := range nodes {
		if i == 1 {
			<-told
		}
		rt := mustNew(t, Options{Nodes: n})
		r := rt.Resource("r", 8)
		rt.Home(r, 2)
		rt.Relaxed(r)
		rt.Task("t").On(2).Do(func(*Task) error { return nil })
		err := rt.Run(t.Context())
		for _, want := range []string{`task "t" is on node 2, and nodes 0 to 1 begin`, `the home of resource "r" is on node 2`, `relaxed access to resource "r" needs all nodes`} {
			if !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), want) {
				t.Errorf("node %d: %v, want %s", i, err, want)
			}
		}
	}
	disband(t, nodes)
}

// TestPhaseWithoutANode has node 2 of three leave. A phase goes on with the tasks for which it has said no node.
func TestPhaseWithoutANode(t *testing.T) {
	nodes := crew(t, 3)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n, AtLoss: GoOn})
		ran := rt.Resource("ran", 6*8)
		rt.Home(ran, 0)
		for on := range 3 {
			rt.Task(fmt.Sprint("caller ", on)).On(on).Do(func(task *Task) error {
				before, err := census(task.Context(), rt, ran)
				if want := map[int]int{0: 2, 1: 2, 2: 2}; err != nil || !maps.Equal(before, want) {
					return fmt.Errorf("tasks by node: %v, %w, want %v", before, err, want)
				}
				if i == 2 {
					return leaveEarly(n)
				}
				after, err := census(task.Context(), rt, ran)
				if want := map[int]int{0: 3, 1: 3}; err != nil || !maps.Equal(after, want) {
					return fmt.Errorf("tasks by node: %v, %w, want %v", after, err, want)
				}
				return nil
			})
		}
		if err := rt.Run(t.Context()); err != nil && i != 2 {
			t.Errorf("node %d: %v", i, err)
		}
	})
	disband(t, nodes[:2])
}

// TestMachinesOfLateNodes has node 3 leave and come back, on two machines with two nodes each. It knows where the tasks of
// the beginning ran, and calls phases that say no node.
func TestMachinesOfLateNodes(t *testing.T) {
	in := func(node int, o *JoinOptions) { o.Machine = string("abab"[node]) }
	nodes := crewOf(t, 4, in)
	gone := make(chan struct{})
	var once sync.Once
	var homes sync.Map
	life := func(n *Nodes, leaves bool) error {
		rt := mustNew(t, Options{Nodes: n, AtLoss: GoOn})
		ran := rt.Resource("ran", 6*8)
		rt.Home(ran, 0)
		for half := range 2 { // each half of the tasks shares
			r := rt.Resource(fmt.Sprint("half ", half), 1<<12)
			for i := range 4 {
				task := rt.Task(fmt.Sprint("member ", half, i))
				task.Write(r)
				task.Each(1, func(int) error { return nil })
			}
		}
		callers := func(ctx context.Context) error {
			homes.Store(fmt.Sprint(rt.Placement().Resources), n.Number())
			for less := false; ; {
				tasks, err := census(ctx, rt, ran)
				switch {
				case err != nil:
					return err
				case leaves:
					return leaveEarly(n)
				case len(tasks) == 3:
					less = true
					once.Do(func() { close(gone) })
				case less || n.fate.Late():
					return nil
				}
			}
		}
		for on := range 4 {
			rt.Task(fmt.Sprint("caller ", on)).On(on).Do(func(t *Task) error { return callers(t.Context()) })
		}
		rt.Late(callers)
		return rt.Run(t.Context())
	}
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			if err := life(n, i == 3); err != nil && i != 3 {
				t.Errorf("node %d: %v", i, err)
			}
		})
	}
	<-gone
	place := launch.Place{Node: 3, Nodes: 4, Listen: "127.0.0.1:0", Root: nodes[0].node.Address()}
	o := JoinOptions{Late: true, Lease: time.Minute, Log: silent, Place: &place}
	in(3, &o)
	n, err := Join(t.Context(), o)
	if err == nil {
		err = life(n, false)
	}
	if err != nil {
		t.Error(err)
	}
	all.Wait()
	nodes[3] = n
	disband(t, nodes)
	for text, node := range homes.Range {
		t.Logf("node %d: %v", node, text)
	}
	known := 0
	homes.Range(func(any, any) bool { known++; return true })
	if known != 1 {
		t.Errorf("nodes know %d different homes, want the same", known)
	}
}
