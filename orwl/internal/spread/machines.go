package spread

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl/placement"
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

// Ground is what a node stands on.
type Ground struct {
	Machine    string `msgpack:"machine"`    // its name; empty if the node shares no memory, or is lost
	Processors int    `msgpack:"processors"` // the number that Go uses at a time
	CPUs       []int  `msgpack:"cpus"`       // their numbers on the machine; none if they have no numbers
	Process    int    `msgpack:"process"`    // its number on its host
	Host       string `msgpack:"host"`       // the host's name
}

// Encode is the ground as other nodes are told it.
func (g Ground) Encode() []byte { return pack.Encode(&g) }

// Grounds are what all nodes stand on, in their order.
type Grounds []Ground

// ParseGrounds reads what the nodes have said: nil for those that were lost.
func ParseGrounds(texts [][]byte) (all Grounds, err error) {
	all = make(Grounds, len(texts))
	for i, text := range texts {
		if text == nil {
			continue
		}
		on := &all[i]
		if err := pack.Decode(text, on); err != nil {
			return nil, fmt.Errorf("orwl: the ground of node %d: %w", i, err)
		}
		if on.Processors < 1 {
			return nil, fmt.Errorf("orwl: the ground of node %d: %d processors, want 1 or more", i, on.Processors)
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

// Share is the CPUs of a node, if several processes with the same CPUs are nodes of its machine: as many for each, and
// neighbours to each other. If there are more nodes than CPUs, some nodes have the same one, and alone is false. It has no CPUs if the
// node is alone on its machine, or shares its process, or if the nodes do not have the same CPUs.
func (all Grounds) Share(node int) (cpus []int, alone bool) {
	type process struct {
		host   string
		number int
	}
	mine := all[node]
	before, count, processes := 0, 0, make(map[process]bool)
	for i, g := range all {
		if g.Machine == "" || g.Machine != mine.Machine {
			continue
		}
		if !slices.Equal(g.CPUs, mine.CPUs) {
			return nil, false
		}
		if i < node {
			before++
		}
		count++
		processes[process{g.Host, g.Process}] = true
	}
	if count < 2 || len(processes) < count || len(mine.CPUs) == 0 {
		return nil, false
	}
	from := before * len(mine.CPUs) / count
	return mine.CPUs[from:max((before+1)*len(mine.CPUs)/count, from+1)], count <= len(mine.CPUs)
}

// claim says how much a place has of a part: tasks that On has put there, and bytes that Home
// keeps there.
type claim struct {
	part, place  int
	tasks, bytes int64
}

// claims are claims by part and place.
type claims map[[2]int]claim

func (c claims) add(part, place int, tasks, bytes int64) {
	old := c[[2]int{part, place}]
	c[[2]int{part, place}] = claim{part, place, old.tasks + tasks, old.bytes + bytes}
}

// match gives each of the parts one of as many places. A place claims first the part with its
// own tasks, then the part with most of its bytes. The other parts are dealt in their order.
// fits says whether a part may have a place.
func (c claims) match(parts, places []int, fits func(part, place int) bool) map[int]int {
	sorted := slices.SortedFunc(maps.Values(c), func(a, b claim) int {
		return cmp.Or(cmp.Compare(b.tasks, a.tasks), cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.part, b.part), cmp.Compare(a.place, b.place))
	})
	placed, freeParts, free := make(map[int]int, len(parts)), members(parts), members(places)
	give := func(part, place int) {
		if freeParts[part] && free[place] && fits(part, place) {
			placed[part], freeParts[part], free[place] = place, false, false
		}
	}
	for _, c := range sorted {
		give(c.part, c.place)
	}
	for _, part := range parts {
		for _, place := range places {
			give(part, place)
		}
	}
	return placed
}

func members(all []int) map[int]bool {
	set := make(map[int]bool, len(all))
	for _, n := range all {
		set[n] = true
	}
	return set
}

// claimed returns the node of each piece. There are as many pieces as nodes. Groups of pieces get
// machines with as many nodes, then the pieces of each group get nodes there.
func (p *Program) claimed(piece []int, m Machines) []int {
	byNode, byMachine := make(claims), make(claims)
	group, machine := m.groups(), m.byNode(p.Nodes)
	add := func(piece, node int, tasks, bytes int64) {
		byNode.add(piece, node, tasks, bytes)
		byMachine.add(group[piece], machine[node], tasks, bytes)
	}
	for i, on := range p.On {
		if on != Free {
			add(piece[i], on, 1, 0)
		}
	}
	for _, a := range p.Accesses {
		if home, said := p.Homes[p.Names[a.Resource]]; said {
			add(piece[a.Task], home, 0, int64(p.Sizes[a.Resource])+placement.HandOverWeight)
		}
	}
	all := upTo(len(m))
	on := byMachine.match(all, all, func(group, at int) bool { return len(m[group]) == len(m[at]) })
	node := make([]int, p.Nodes)
	first := 0
	for g, nodes := range m {
		pieces := upTo(first + len(nodes))[first:]
		first += len(nodes)
		for piece, at := range byNode.match(pieces, m[on[g]], func(int, int) bool { return true }) {
			node[piece] = at
		}
	}
	return node
}
