package orwl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/net/topology"
)

// machines are the nodes on each machine of a run, in their order. Nodes on one machine share
// memory, and what goes from one machine to another passes a network.
type machines [][]int

// meetMachines learns which nodes share a machine. A node that shares no memory, or is lost, is
// on a machine of its own.
func (rt *Runtime) meetMachines(ctx context.Context) error {
	if !rt.o.Nodes.many() {
		return nil
	}
	names, err := rt.o.Nodes.Gather(ctx, "machine", []byte(rt.o.Nodes.node.Machine()))
	if err != nil {
		return err
	}
	rt.machines = machinesOf(names)
	return nil
}

// machinesOf groups the nodes by the names of their machines.
func machinesOf(names [][]byte) (all machines) {
	number := make(map[string]int)
	for node, name := range names {
		m, known := number[string(name)]
		if !known || len(name) == 0 {
			m = len(all)
			number[string(name)] = m
			all = append(all, nil)
		}
		all[m] = append(all[m], node)
	}
	return all
}

// mixed reports whether some pairs of nodes share a machine and others do not.
func (m machines) mixed() bool {
	return len(m) > 1 && slices.ContainsFunc(m, func(nodes []int) bool { return len(nodes) > 1 })
}

// orOne is one machine with so many nodes, unless machines are mixed. Otherwise all pairs of
// nodes are alike, and placement needs no machines.
func (m machines) orOne(nodes int) machines {
	if m.mixed() {
		return m
	}
	return machines{upTo(nodes)}
}

// upTo returns the numbers from 0 to below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// tree has a rank for each node, one machine after the other. A machine is a group.
func (m machines) tree() (*topology.Tree, error) {
	if len(m) == 1 {
		return topology.Flat(len(m[0])), nil
	}
	counts := make([]string, len(m))
	for i, nodes := range m {
		counts[i] = fmt.Sprint(len(nodes))
	}
	return topology.Parse(fmt.Sprintf("group:%d node:%s", len(m), strings.Join(counts, "+")))
}

// groups returns the group of each piece.
func (m machines) groups() (of []int) {
	for g, nodes := range m {
		of = append(of, slices.Repeat([]int{g}, len(nodes))...)
	}
	return of
}

// byNode returns the machine of each node.
func (m machines) byNode(nodes int) []int {
	of := make([]int, nodes)
	for i, all := range m {
		for _, node := range all {
			of[node] = i
		}
	}
	return of
}

// String lists the nodes of each machine: "0 1, 2 3".
func (m machines) String() string {
	texts := make([]string, len(m))
	for i, nodes := range m {
		texts[i] = strings.Trim(fmt.Sprint(nodes), "[]")
	}
	return strings.Join(texts, ", ")
}
