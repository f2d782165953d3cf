package orwl

import (
	"context"
	"errors"
	"fmt"
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
				err := n.node.Close(context.Background())
				for peer := range 2 { // the network says nothing of peers any more
					n.site.Away(resource.Node(peer), errLeft)
				}
				return err
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
