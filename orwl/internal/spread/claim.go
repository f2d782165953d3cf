package spread

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/orwl/placement"
)

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
