package orwl

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/guards"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/resource"
)

// Relaxed implements inner.Runtime.
func (rt innerRuntime) Relaxed(r *resource.Resource) {
	rt.declareOf(core(r), "relaxed access", func(name string) error {
		if rt.runs > 0 && rt.o.Nodes.many() {
			return fmt.Errorf("%w: relaxed access to resource %q: several nodes open it before their first run", errStarted, name)
		}
		if rt.relaxed == nil {
			rt.relaxed = make(map[string]bool)
		}
		rt.relaxed[name] = true
		return nil
	})
}

// relaxing are the resources with relaxed access, in a run of several nodes.
type relaxing struct {
	resources []*queue.Resource // in the same order on every node
	guards    *guards.Guards    // nil if there is no such resource
	homes     map[string]int    // of all resources
	published bool              // all homes have their bytes where other nodes reach them
}

// newGuards makes the guards of all resources with relaxed access.
func (rt *Runtime) newGuards(ctx context.Context, all []*queue.Resource) (x *relaxing, err error) {
	x = &relaxing{resources: all, homes: rt.homes}
	if len(all) == 0 {
		return x, nil
	}
	grounds, err := rt.trees(ctx)
	if err != nil {
		return nil, err
	}
	x.guards, err = guards.New(ctx, guards.Options{
		Node: rt.Node(), Grounds: grounds, Network: rt.o.Nodes.node, Channel: guardChannel, Lock: rt.o.guard, Guards: len(all),
	})
	if err != nil {
		return nil, fmt.Errorf("orwl: relaxed access from every node: %w", err)
	}
	return x, rt.o.Nodes.node.Receive(guardChannel, node.Receiver{Take: func(_ int, header, _ []byte) error {
		number, waits, err := guards.Asked(header, len(all))
		if err == nil {
			all[number].RelaxedWaits(waits)
		}
		return err
	}})
}

// trees learns what the machines of all nodes look like.
func (rt *Runtime) trees(ctx context.Context) (spread.Grounds, error) {
	n := rt.o.Nodes
	mine := n.grounds[n.Number()]
	mine.Tree = rt.o.machine()
	texts, err := n.Gather(ctx, "trees", mine.Encode())
	if err != nil {
		return nil, err
	}
	grounds, err := spread.ParseGrounds(texts)
	if err == nil {
		grounds[n.Number()] = mine
	}
	return grounds, err
}

// relax opens all new resources with relaxed access that were declared so, before the first
// request and before any node sends one.
func (rt *Runtime) relax(ctx context.Context) error {
	var all []*queue.Resource // in the same order on every node
	for _, name := range slices.Sorted(maps.Keys(rt.relaxed)) {
		if !rt.settled[name] {
			all = append(all, rt.resources[name])
		}
	}
	n := rt.o.Nodes
	if n.many() && rt.runs == 1 {
		x, err := rt.newGuards(ctx, all)
		if err != nil {
			return err
		}
		rt.relaxing.Store(x)
	}
	if len(all) == 0 {
		return nil
	}
	open := func(here bool) error {
		for _, r := range all {
			if here == (rt.homes[r.Name()] == rt.Node()) {
				if err := r.Open(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := open(true); err != nil {
		return err
	}
	// No node looks for bytes that are not there yet.
	if _, err := n.Gather(ctx, "relaxed access", nil); err != nil {
		return err
	}
	if n.many() {
		published := *rt.relaxing.Load()
		published.published = true
		rt.relaxing.Store(&published)
	}
	if err := open(false); err != nil {
		return err
	}
	// No task holds a guard that another node has not opened: Open would wait for it.
	_, err := n.Gather(ctx, "guards", nil)
	return err
}

// makeGuard makes the lock between ordered and relaxed access to a resource.
func (rt *Runtime) makeGuard(name string) (queue.Guard, error) {
	if rt.o.Nodes.many() {
		x := rt.relaxing.Load()
		if x == nil {
			return queue.Guard{}, fmt.Errorf("%w: %q", inner.ErrEarly, name)
		}
		home := x.homes[name]
		i := slices.IndexFunc(x.resources, func(r *queue.Resource) bool { return r.Name() == name })
		switch {
		case i >= 0 && home != rt.Node() && !x.published:
			return queue.Guard{}, fmt.Errorf("%w: %q", inner.ErrEarly, name)
		case i >= 0:
			return x.guards.Guard(i, home)
		case home != rt.Node():
			return queue.Guard{}, fmt.Errorf("%w: %q", errNotRelaxed, name)
		}
	}
	return newGuard(rt.o.guard, lockerOptions{tree: rt.o.tree})
}

// identity is the task's context, and the holder in it, by which package resource applies
// the leaf rule. Context makes it. Most step tasks never ask for it.
type identity struct {
	ctx    context.Context
	holder *queue.Holder
}

// eachPlace yields the places of the task's accesses.
func (t *Task) eachPlace(yield func(*queue.Place) bool) {
	for _, a := range t.accesses {
		if !yield(&a.place) { // no other place of the access holds
			return
		}
	}
}

// Context ends when the run does. It stands for the task: a relaxed access with it, or
// with one derived from it, fails if it breaks the leaf rule.
// With any other context such an access may wait for ever. A goroutine that the body
// starts uses the context of Run for its own relaxed accesses.
func (t *Task) Context() context.Context {
	if t.identity.Load() == nil {
		h := queue.NewHolder(fmt.Sprintf("task %q", t.name), t.eachPlace)
		t.identity.CompareAndSwap(nil, &identity{h.Context(t.run.ctx), h})
	}
	return t.identity.Load().ctx
}
