package topology

import (
	"fmt"
	"slices"
)

// Under returns the cluster in which every leaf of a description is a machine
// like t. If t is a detected machine of two sockets,
//
//	t.Under("rack:2 node:4")
//
// has the levels machine, rack, node and socket: the last word of the
// description names what one t is. CPU numbers stay numbers of that node.
//
// The names of the description have to be coarser than those inside t, and the
// whole may have MaxRanks ranks; any error is a [*ParseError]. Nodes that
// differ from one another cannot be joined in this way; Parse describes them.
func (t *Tree) Under(text string) (*Tree, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	node := d.words[len(d.words)-1]
	if inside := t.LevelName(2); grain(node.name) >= grain(inside) {
		return nil, d.fail(node.at, node.name,
			fmt.Sprintf("the tree to put under %s begins with %s, which is not finer", node.name, inside),
			coarserThan(grain(inside)))
	}
	if node.total > MaxRanks/t.ranks {
		return nil, d.fail(node.at, node.name,
			fmt.Sprintf("%d of %s with %d ranks each are too many", node.total, node.name, t.ranks),
			fmt.Sprintf("up to %d ranks in all", MaxRanks))
	}
	return d.tree().over(t), nil
}

// over replaces every leaf of t by a copy of u, whose machine becomes an
// element named like the leaf.
func (t *Tree) over(u *Tree) *Tree {
	ranks := t.ranks * u.ranks
	joined := newMachine(ranks, u.leaf, nil)
	if u.cpus != nil {
		joined.cpus = slices.Repeat(u.cpus, t.ranks)
	}
	for _, l := range t.levels[1:] {
		first := make([]Rank, l.elements(), l.elements()+1)
		for j := range first {
			first[j] = l.first[j] * Rank(u.ranks)
		}
		joined.levels = append(joined.levels, newLevel(l.name, first, ranks))
	}
	for i, l := range u.levels {
		name := l.name
		if i == 0 {
			name = t.leaf
		}
		first := make([]Rank, 0, t.ranks*l.elements()+1)
		for leaf := range Rank(t.ranks) {
			for _, p := range l.first[:l.elements()] {
				first = append(first, leaf*Rank(u.ranks)+p)
			}
		}
		joined.levels = append(joined.levels, newLevel(name, first, ranks))
	}
	return joined
}
