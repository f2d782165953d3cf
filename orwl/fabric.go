package orwl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/rma"
	rmapart "github.com/orwl/go-orwl/net/rma/part"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/resource"
)

// guards are the guards of the resources with relaxed access from every node. All are locks
// of one fabric over the nodes. Each has ranks of its own, as a part of that fabric, because
// a wait at one guard must not hold up another:
//
//	fabric   node 0: guard 0 │ guard 1 │ ...    node 1: guard 0 │ guard 1 │ ...
//	guard    ordered, bytes, relaxed ...        (ordered), bytes, relaxed ...
//
// Its tree is the nodes with their sockets, caches and cores, in groups where several nodes
// share a machine. RMA-RW has one counter at each node, the first of the guard's ranks there.
// So a reader touches only its node, and writers pass the guard on inside a machine first.
type guards struct {
	rt        *Runtime
	resources []*resource.Resource
	homes     map[string]int // of all resources
	fabric    rma.Fabric
	spec      locks.Spec
	tree      *topology.Tree // of one guard
	words     int            // of one rank's memory
	base      rma.Disp       // of that memory
	ranks     int            // of a guard at a node
	published bool           // all homes have their bytes where other nodes reach them
}

// The ranks of a guard at a node.
const (
	orderedRank = iota // the FIFO's, used at the home
	bytesRank          // reaches the bytes; has them at the home
	relaxedRank        // the first of those that goroutines share
)

// mostSeats is about how many ranks of a node relaxed access uses, for all guards together.
const mostSeats = 256

// newGuards makes this node's part of the fabric.
func (rt *Runtime) newGuards(ctx context.Context, all []*resource.Resource) (*guards, error) {
	g := &guards{rt: rt, resources: all, homes: rt.homes}
	if len(all) == 0 {
		return g, nil
	}
	g.spec, _ = locks.ByName(rt.o.Guard) // Options were validated
	grounds, err := rt.grounds(ctx)
	if err != nil {
		return nil, err
	}
	seats := max(1, mostSeats/len(all))
	for _, on := range grounds {
		seats = min(seats, on.tree.Ranks())
	}
	g.ranks = relaxedRank + seats
	if g.tree, err = treeOf(grounds, rt.Node(), g.ranks); err != nil {
		return nil, err
	}
	const line = 8 // words
	words := g.spec.WordsOn(g.tree)
	g.words = words.Home + words.Rank + 3*line
	g.fabric, err = rt.o.Nodes.node.Fabric(ctx, node.FabricOptions{
		Topology: topology.Flat(rt.Nodes() * len(all) * g.ranks), Words: g.words,
	})
	if err != nil {
		return nil, err
	}
	g.base, err = g.fabric.Alloc(g.words)
	return g, err
}

// ground is what a node stands on, as it tells the others.
type ground struct {
	Tree    string `msgpack:"tree"`
	Machine string `msgpack:"machine"` // empty if the node shares no memory

	tree *topology.Tree
}

// grounds are those of all nodes. The trees of other nodes have no CPU numbers.
func (rt *Runtime) grounds(ctx context.Context) ([]ground, error) {
	mine := ground{tree: rt.o.machine(), Machine: rt.o.Nodes.node.Machine()}
	mine.Tree = mine.tree.String()
	texts, err := rt.o.Nodes.Gather(ctx, "ground", pack.Encode(&mine))
	if err != nil {
		return nil, err
	}
	all := make([]ground, len(texts))
	for i, text := range texts {
		if err := pack.Decode(text, &all[i]); err != nil {
			return nil, fmt.Errorf("the ground of node %d: %w", i, err)
		}
		if all[i].tree, err = topology.Parse(all[i].Tree); err != nil {
			return nil, fmt.Errorf("the machine of node %d: %w", i, err)
		}
	}
	all[rt.Node()] = mine
	return all, nil
}

// treeOf is the tree of one guard: so many ranks at each node. Nodes whose machines differ, or
// are clusters themselves, count as flat.
func treeOf(grounds []ground, node, ranks int) (*topology.Tree, error) {
	under, mine := nodesOf(grounds), grounds[node].tree
	same := !slices.ContainsFunc(grounds, func(other ground) bool { return !other.tree.Equal(mine) })
	if same && !strings.Contains(mine.String(), "node") {
		tree, err := mine.Spread(ranks)
		if err != nil {
			return nil, err
		}
		return tree.Under(under)
	}
	return topology.Flat(ranks).Under(under)
}

// nodesOf describes the nodes, in groups if as many follow each other on each machine.
func nodesOf(grounds []ground) string {
	var groups []int // nodes of each
	for i, on := range grounds {
		if i == 0 || on.Machine == "" || on.Machine != grounds[i-1].Machine {
			groups = append(groups, 0)
		}
		groups[len(groups)-1]++
	}
	each := groups[0]
	if each == 1 || len(groups) == 1 || slices.ContainsFunc(groups, func(n int) bool { return n != each }) {
		return fmt.Sprintf("node:%d", len(grounds))
	}
	return fmt.Sprintf("group:%d node:%d", len(groups), each)
}

// part is the fabric of one guard.
func (g *guards) part(i int) (*rmapart.Fabric, error) {
	o := rmapart.Options{Topology: g.tree, Base: g.base, Words: g.words}
	for node := range g.rt.Nodes() {
		for p := range g.ranks {
			o.Ranks = append(o.Ranks, rma.Rank((node*len(g.resources)+i)*g.ranks+p))
		}
	}
	return rmapart.New(g.fabric, o)
}

// guard makes this node's guard of a resource.
func (g *guards) guard(i int) (resource.Guard, error) {
	f, err := g.part(i)
	if err != nil {
		return resource.Guard{}, err
	}
	home, node := g.homes[g.resources[i].Name()], g.rt.Node()
	rank := func(node, p int) rma.Rank { return rma.Rank(node*g.ranks + p) }
	root, err := f.Alloc(1)
	if err != nil {
		return resource.Guard{}, err
	}
	o := locks.Options{Home: rank(home, orderedRank)}
	if slices.Contains(g.spec.Options, "TDC") {
		o.TDC = g.ranks
	}
	l, err := g.spec.New(f, o)
	if err != nil {
		return resource.Guard{}, err
	}
	reach := &resource.Reach{Home: rank(home, bytesRank), Root: root}
	if reach.Window, err = f.Window(rank(node, bytesRank)); err != nil {
		return resource.Guard{}, err
	}
	var ordered *rma.Rank
	if home == node {
		ordered = new(rma.Rank)
		*ordered = rank(node, orderedRank)
		reach.Aside = func(f func()) { go f() }
	} else {
		reach.Ask = func(waits bool) { g.rt.o.Nodes.ask(home, i, waits) }
	}
	var relaxed []rma.Rank
	for p := relaxedRank; p < g.ranks; p++ {
		relaxed = append(relaxed, rank(node, p))
	}
	return resource.NewGuardOn(l, f, ordered, relaxed, reach)
}
