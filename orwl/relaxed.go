package orwl

import (
	"context"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/wire"
	"github.com/orwl/go-orwl/resource"
)

// Relaxed declares relaxed access to a resource of this runtime, from every node: see
// [resource.Resource.Snapshot] and the other kinds there. The run's fabric then has the
// resource's guard, and its home keeps the bytes where other nodes reach them. Fault pages do
// not watch such bytes.
//
// Without Relaxed, a resource allows relaxed access on its home's node only, and the
// first one waits for earlier requests. Relaxed access to a resource that has been declared
// waits for none.
//
// The nodes then have a fabric (see [node.Node]), so the program must not make another.
// The loss of a node breaks all resources that are declared so. Run refuses such a resource
// if [Runtime.Permit] excludes a node.
func (rt *Runtime) Relaxed(r *resource.Resource) {
	rt.declareOf(r, "relaxed access", func(name string) error {
		if rt.relaxed == nil {
			rt.relaxed = make(map[string]bool)
		}
		rt.relaxed[name] = true
		return nil
	})
}

// relax opens all resources with relaxed access that were declared so, before the first
// request and before any node sends one.
func (rt *Runtime) relax(ctx context.Context) error {
	var all []*resource.Resource // in the same order on every node
	for _, name := range rt.sorted() {
		if rt.relaxed[name] {
			all = append(all, rt.resources[name])
		}
	}
	n := rt.o.Nodes
	if n.many() {
		g, err := rt.newGuards(ctx, all)
		if err != nil {
			return fmt.Errorf("orwl: relaxed access from every node: %w", err)
		}
		rt.guards.Store(g)
	}
	if len(all) == 0 {
		return nil
	}
	if n.many() {
		if err := n.node.Receive(guardChannel, node.Receiver{Take: asked(all)}); err != nil {
			return err
		}
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
		published := *rt.guards.Load()
		published.published = true
		rt.guards.Store(&published)
	}
	if err := open(false); err != nil {
		return err
	}
	// No task holds a guard that another node has not opened: Open would wait for it.
	_, err := n.Gather(ctx, "guards", nil)
	return err
}

// makeGuard makes the lock between ordered and relaxed access to a resource.
func (rt *Runtime) makeGuard(name string) (resource.Guard, error) {
	if rt.o.Nodes.many() {
		g := rt.guards.Load()
		if g == nil {
			return resource.Guard{}, fmt.Errorf("%w: %q", ErrEarly, name)
		}
		here := g.homes[name] == rt.Node()
		if i := slices.IndexFunc(g.resources, func(r *resource.Resource) bool { return r.Name() == name }); i >= 0 {
			if !here && !g.published {
				return resource.Guard{}, fmt.Errorf("%w: %q", ErrEarly, name)
			}
			return g.guard(i)
		}
		if !here {
			return resource.Guard{}, fmt.Errorf("%w: %q", ErrNotRelaxed, name)
		}
	}
	return NewGuardWith(rt.o.Guard, LockerOptions{Tree: rt.o.Tree})
}

// ask tells a home that one relaxed access more, or less, of this node waits for a resource.
func (n *Nodes) ask(home, resource int, waits bool) {
	header := wire.AppendBool(wire.AppendUint(wire.AppendArray(nil, 2), uint64(resource)), waits)
	_ = n.node.Send(home, guardChannel, header, nil, false) // the loss of the home ends the wait
}

// asked takes what ask sends.
func asked(all []*resource.Resource) func(from int, header, bulk []byte) error {
	return func(_ int, header, _ []byte) error {
		r := wire.NewReader(header)
		fields := r.Array()
		number, waits := r.UintTo(uint64(len(all)-1)), r.Bool()
		if err := r.Done(); err != nil {
			return fmt.Errorf("%w: %w", node.ErrProtocol, err)
		}
		if fields != 2 {
			return fmt.Errorf("%w: a message of %d fields for a guard, want 2", node.ErrProtocol, fields)
		}
		all[number].RelaxedWaits(waits)
		return nil
	}
}
