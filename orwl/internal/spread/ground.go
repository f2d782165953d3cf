package spread

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/net/topology"
)

// Ground is what a node stands on.
type Ground struct {
	Machine    string         // its name; empty if the node shares no memory, or is lost
	Processors int            // the number that Go uses at a time
	CPUs       []int          // their numbers on the machine; none if they have no numbers
	Process    int            // its number on its host
	Host       string         // the host's name
	Tree       *topology.Tree // of its sockets, caches and cores; nil if it is not needed
}

// ground is a Ground as bytes.
type ground struct {
	Tree       string `msgpack:"tree"`
	Machine    string `msgpack:"machine"`
	Processors int    `msgpack:"processors"`
	CPUs       []int  `msgpack:"cpus"`
	Process    int    `msgpack:"process"`
	Host       string `msgpack:"host"`
}

// Encode is the ground as other nodes are told it.
func (g Ground) Encode() []byte {
	said := ground{Machine: g.Machine, Processors: g.Processors, CPUs: g.CPUs, Process: g.Process, Host: g.Host}
	if g.Tree != nil {
		said.Tree = g.Tree.String()
	}
	return pack.Encode(&said)
}

// Grounds are what all nodes stand on, in their order.
type Grounds []Ground

// ParseGrounds reads what the nodes have said: nil for those that were lost. Trees have no CPU
// numbers.
func ParseGrounds(texts [][]byte) (all Grounds, err error) {
	all = make(Grounds, len(texts))
	for i, text := range texts {
		if text == nil {
			continue
		}
		var said ground
		if err := pack.Decode(text, &said); err != nil {
			return nil, fmt.Errorf("orwl: the ground of node %d: %w", i, err)
		}
		if said.Processors < 1 {
			return nil, fmt.Errorf("orwl: the ground of node %d: %d processors, want 1 or more", i, said.Processors)
		}
		all[i] = Ground{Machine: said.Machine, Processors: said.Processors, CPUs: said.CPUs, Process: said.Process, Host: said.Host}
		if said.Tree == "" {
			continue
		}
		if all[i].Tree, err = topology.Parse(said.Tree); err != nil {
			return nil, fmt.Errorf("orwl: the machine of node %d: %w", i, err)
		}
	}
	return all, nil
}

// Machines are the nodes on each machine.
func (all Grounds) Machines() Machines {
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.Machine
	}
	return MachinesOf(names)
}

// Processors is how many processors the nodes use together. Nodes of one machine do not have more
// than it has.
func (all Grounds) Processors() (n int) {
	for _, nodes := range all.Machines() {
		uses, cpus := 0, make(map[int]bool)
		for _, node := range nodes {
			uses += all[node].Processors
			for _, cpu := range all[node].CPUs {
				cpus[cpu] = true
			}
		}
		if len(cpus) > 0 {
			uses = min(uses, len(cpus))
		}
		n += uses
	}
	return n
}

// Tree is a tree with so many ranks at each node. Where some nodes share a machine, and others do
// not, each machine is a group. So the nodes come in the order of their machines: at is the place
// of each node. me is this node, whose tree has its CPU numbers. Nodes whose trees differ, or are
// clusters themselves, count as flat.
func (all Grounds) Tree(me, ranks int) (tree *topology.Tree, at []int, err error) {
	m := all.Machines().orOne(len(all))
	at = make([]int, len(all))
	for place, node := range slices.Concat(m...) {
		at[node] = place
	}
	mine := all[me].Tree
	tree = topology.Flat(ranks)
	same := !slices.ContainsFunc(all, func(other Ground) bool { return !other.Tree.Equal(mine) })
	if same && !strings.Contains(mine.String(), "node") {
		if tree, err = mine.Spread(ranks); err != nil {
			return nil, nil, err
		}
	}
	tree, err = tree.Under(m.level())
	return tree, at, err
}
