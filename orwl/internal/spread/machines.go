package spread

import (
	"fmt"
	"slices"
	"strings"
)

// Machines are the nodes on each machine of a run, in their order. Nodes on one machine share
// memory, and what goes from one machine to another passes a network.
type Machines [][]int

// MachinesOf groups the nodes by the names of their machines. A node without such a name shares no
// memory, or is lost: it is on a machine of its own.
func MachinesOf(names []string) (all Machines) {
	number := make(map[string]int)
	for node, name := range names {
		m, known := number[name]
		if !known || name == "" {
			m = len(all)
			number[name] = m
			all = append(all, nil)
		}
		all[m] = append(all[m], node)
	}
	return all
}

// Mixed reports whether some pairs of nodes share a machine and others do not.
func (m Machines) Mixed() bool {
	return len(m) > 1 && slices.ContainsFunc(m, func(nodes []int) bool { return len(nodes) > 1 })
}

// orOne is one machine with so many nodes, unless machines are mixed. Otherwise all pairs of
// nodes are alike, and placement needs no machines.
func (m Machines) orOne(nodes int) Machines {
	if m.Mixed() {
		return m
	}
	return Machines{upTo(nodes)}
}

// upTo returns the numbers from 0 to below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// level describes a tree with a rank for each node, one machine after the other. A machine is a
// group. If parts is not nil, it says how many ranks each node has.
func (m Machines) level(parts []int) string {
	counts := make([]string, len(m))
	var ranks []string
	for i, nodes := range m {
		counts[i] = fmt.Sprint(len(nodes))
		for _, node := range nodes {
			if parts != nil {
				ranks = append(ranks, fmt.Sprint(parts[node]))
			}
		}
	}
	text := "node:" + strings.Join(counts, "+")
	if len(m) > 1 {
		text = fmt.Sprintf("group:%d %s", len(m), text)
	}
	if parts != nil {
		text += " core:" + strings.Join(ranks, "+")
	}
	return text
}

// nodeOf returns the node of a rank in such a tree.
func (m Machines) nodeOf(rank int, parts []int) int {
	for _, node := range slices.Concat(m...) {
		if rank < parts[node] {
			return node
		}
		rank -= parts[node]
	}
	return -1 // there is no such rank
}

// groups returns the group of each piece.
func (m Machines) groups() (of []int) {
	for g, nodes := range m {
		of = append(of, slices.Repeat([]int{g}, len(nodes))...)
	}
	return of
}

// byNode returns the machine of each node.
func (m Machines) byNode(nodes int) []int {
	of := make([]int, nodes)
	for i, all := range m {
		for _, node := range all {
			of[node] = i
		}
	}
	return of
}

// String lists the nodes of each machine: "0 1, 2 3".
func (m Machines) String() string {
	texts := make([]string, len(m))
	for i, nodes := range m {
		texts[i] = strings.Trim(fmt.Sprint(nodes), "[]")
	}
	return strings.Join(texts, ", ")
}
