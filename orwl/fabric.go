package orwl

import (
	"context"
	"slices"

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
// Its tree is the nodes with their sockets, caches and cores, a group for each machine where some
// nodes share one. RMA-RW has one counter at each node, the first of the guard's ranks there.
// So a reader touches only its node, and writers pass the guard on inside a machine first.
type guards struct {
	rt        *Runtime
	resources []*resource.Resource
	homes     map[string]int // of all resources
	fabric    rma.Fabric
	spec      locks.Spec
	tree      *topology.Tree // of one guard
	at        []int          // the place of each node in it
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
	seats := max(1, mostSeats/len(all))
	for _, on := range rt.grounds {
		seats = min(seats, on.Tree.Ranks())
	}
	g.ranks = relaxedRank + seats
	var err error
	if g.tree, g.at, err = rt.grounds.Tree(rt.Node(), g.ranks); err != nil {
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

// part is the fabric of one guard.
func (g *guards) part(i int) (*rmapart.Fabric, error) {
	o := rmapart.Options{Topology: g.tree, Base: g.base, Words: g.words}
	o.Ranks = make([]rma.Rank, len(g.at)*g.ranks)
	for node := range g.at {
		for p := range g.ranks {
			o.Ranks[g.rank(node, p)] = rma.Rank((node*len(g.resources)+i)*g.ranks + p)
		}
	}
	return rmapart.New(g.fabric, o)
}

// rank is one of a node's ranks in a guard.
func (g *guards) rank(node, p int) rma.Rank { return rma.Rank(g.at[node]*g.ranks + p) }

// guard makes this node's guard of a resource.
func (g *guards) guard(i int) (resource.Guard, error) {
	f, err := g.part(i)
	if err != nil {
		return resource.Guard{}, err
	}
	home, node := g.homes[g.resources[i].Name()], g.rt.Node()
	root, err := f.Alloc(1)
	if err != nil {
		return resource.Guard{}, err
	}
	o := locks.Options{Home: g.rank(home, orderedRank)}
	if slices.Contains(g.spec.Options, "TDC") {
		o.TDC = g.ranks
	}
	l, err := g.spec.New(f, o)
	if err != nil {
		return resource.Guard{}, err
	}
	reach := &resource.Reach{Home: g.rank(home, bytesRank), Root: root}
	if reach.Window, err = f.Window(g.rank(node, bytesRank)); err != nil {
		return resource.Guard{}, err
	}
	var ordered *rma.Rank
	if home == node {
		ordered = new(rma.Rank)
		*ordered = g.rank(node, orderedRank)
		reach.Aside = func(f func()) { go f() }
	} else {
		reach.Ask = func(waits bool) { g.rt.o.Nodes.ask(home, i, waits) }
	}
	var relaxed []rma.Rank
	for p := relaxedRank; p < g.ranks; p++ {
		relaxed = append(relaxed, g.rank(node, p))
	}
	return resource.NewGuardOn(l, f, ordered, relaxed, reach)
}
