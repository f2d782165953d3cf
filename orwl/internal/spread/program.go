package spread

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/placement"
)

// Program is what is known of a program before its tasks have nodes. Tasks have numbers in the
// order of the program. Resources have numbers in the order of their first access.
type Program struct {
	Nodes    int
	Machines Machines // of the nodes; nil if it is not known which share one
	Weights  []int    // of the nodes; nil: all are alike

	On       []int              // by task: the node that the program has said, or Free
	Accesses []placement.Access // in the order of tasks
	Sizes    []int              // by resource, in bytes
	Names    []string           // by resource

	Homes map[string]int // by name: the homes that are known
	All   []string       // the names of all resources, those without an access too
}

// Free is the node of a task for which the program has said none.
const Free = -1

// Weighed reports whether the weights decide how many tasks each node gets. A program that says a node for some tasks divides its work by itself.
func (p *Program) Weighed() bool {
	return p.Nodes > 1 && !slices.ContainsFunc(p.On, func(on int) bool { return on != Free })
}

// shares are how many tasks each node gets, by its weight.
func (p *Program) shares() []int {
	weights := p.Weights
	if weights == nil || !p.Weighed() {
		weights = slices.Repeat([]int{balance.Mean}, p.Nodes)
	}
	return balance.Shares(len(p.On), weights)
}

// ByIndex deals the tasks in their order, as many to each node as its weight says. The nodes that the program has said win.
func (p *Program) ByIndex() []int {
	on := slices.Clone(p.On)
	i := 0
	for node, n := range p.shares() {
		for range n {
			if on[i] == Free {
				on[i] = node
			}
			i++
		}
	}
	return on
}

// Deciders returns the task whose node is the home of a resource, by the resource's number: the
// first that writes it, or else the first that reads it.
func (p *Program) Deciders() []int {
	decides := slices.Repeat([]int{Free}, len(p.Names))
	for _, write := range []bool{true, false} {
		for _, a := range p.Accesses {
			if decides[a.Resource] == Free && a.Write == write {
				decides[a.Resource] = a.Task
			}
		}
	}
	return decides
}

// HomesFor returns the homes of all resources if each task is on the given node. Known homes stay. On one node it returns nil: a resource that is not in the map has its home on
// node 0.
func (p *Program) HomesFor(on []int) map[string]int {
	if p.Nodes == 1 {
		return nil
	}
	homes := maps.Clone(p.Homes)
	if homes == nil {
		homes = make(map[string]int)
	}
	decides := p.Deciders()
	for r, name := range p.Names {
		if _, known := homes[name]; !known {
			homes[name] = on[decides[r]]
		}
	}
	for _, name := range p.All {
		if _, known := homes[name]; !known {
			homes[name] = heaviest(name, p.Nodes)
		}
	}
	return homes
}

// heaviest is the node of the greatest hash with the name: of those that move when
// the number of nodes grows by one, there are as few as can be.
func heaviest(name string, nodes int) (best int) {
	greatest := uint64(0)
	for n := range nodes {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s on %d", name, n)
		if s := h.Sum64(); s > greatest {
			best, greatest = n, s
		}
	}
	return best
}

// Crossing returns how many bytes go from node to node in a round, and how many of them from
// machine to machine, if each task is on the given node. In the order of the program, an access on a
// node without the present version gets it from the home, and a write on another node sends its
// version home. The first round fills the nodes; the second is counted.
func (p *Program) Crossing(on []int, homes map[string]int) (bytes, between int64) {
	rest := slices.Clone(p.Accesses)
	slices.SortStableFunc(rest, func(a, b placement.Access) int { return cmp.Compare(a.Resource, b.Resource) })
	c := crossing{p: p, on: on, machine: p.Machines.byNode(p.Nodes), version: make([]int, p.Nodes)}
	for len(rest) > 0 {
		n := 1
		for n < len(rest) && rest[n].Resource == rest[0].Resource {
			n++
		}
		c.add(rest[:n], homes[p.Names[rest[0].Resource]])
		rest = rest[n:]
	}
	return c.bytes, c.between
}

// crossing counts bytes from node to node.
type crossing struct {
	p              *Program
	on, machine    []int
	bytes, between int64
	version        []int // the version that each node has; no two resources have one in common
	present        int   // the last version of all
}

// add counts two rounds of all accesses of a resource.
func (c *crossing) add(all []placement.Access, home int) {
	size := int64(c.p.Sizes[all[0].Resource])
	goes := func(round int64, node int) {
		c.bytes += round * size
		if c.machine[node] != c.machine[home] {
			c.between += round * size
		}
	}
	c.present++
	c.version[home] = c.present
	for round := range int64(2) {
		for _, a := range all {
			node := c.on[a.Task]
			if c.version[node] != c.present {
				goes(round, node)
			}
			if a.Write {
				c.present++
				c.version[home] = c.present
				if node != home {
					goes(round, node)
				}
			}
			c.version[node] = c.present
		}
	}
}
