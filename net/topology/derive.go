package topology

import (
	"fmt"
	"slices"
)

// WithRanks returns the same machine carrying n ranks instead of one per leaf,
// 1..MaxRanks. Ranks stay in the order of the leaves.
//
// With fewer ranks than leaves they are packed: rank p takes leaf p, so that
// neighbours are as close as they can be. Where leaves are hardware threads,
// two ranks then share a core while other cores are idle; Spread does the
// opposite. With more ranks than leaves, every leaf and its CPU carries a block
// of consecutive ranks; blocks differ by at most one rank, and the larger ones
// are spread over the machine. The leaves are then called rank.
//
// Levels stay, even one whose elements are left with one rank each, so that
// what was set per level fits any number of ranks. Elements without a rank
// vanish, and those behind them move up. The error is a [*RangeError].
func (t *Tree) WithRanks(n int) (*Tree, error) {
	return t.place("WithRanks", n, n <= t.ranks)
}

// Spread is WithRanks except that fewer ranks than leaves are spread evenly
// over the leaves: two ranks on two sockets take one socket each. Neighbours
// are still neighbours, but farther apart.
func (t *Tree) Spread(n int) (*Tree, error) {
	return t.place("Spread", n, false)
}

func (t *Tree) place(method string, n int, packed bool) (*Tree, error) {
	if n < 1 || n > MaxRanks {
		return nil, &RangeError{Method: method, What: "number of ranks", Value: n, Low: 1, High: MaxRanks}
	}
	if packed {
		return t.carry(n, func(p Rank) Rank { return p }), nil
	}
	// In 64 bits the product of two numbers up to MaxRanks fits everywhere.
	leaves, ranks := uint64(t.ranks), uint64(n)
	return t.carry(n, func(p Rank) Rank { return Rank(uint64(p) * leaves / ranks) }), nil
}

// carry builds the tree of n ranks of which rank p sits on leaf leafOf(p), which
// does not descend as p ascends.
func (t *Tree) carry(n int, leafOf func(p Rank) Rank) *Tree {
	leaf := t.leaf
	if n > t.ranks {
		leaf = levelNames[len(levelNames)-1]
	}
	var cpus []int
	if t.cpus != nil {
		cpus = make([]int, n)
		for p := range cpus {
			cpus[p] = t.cpus[leafOf(Rank(p))]
		}
	}
	u := newMachine(n, leaf, cpus)
	for _, l := range t.levels[1:] {
		var first []Rank
		last := int32(-1)
		for p := range Rank(n) {
			if j := l.elementOf[leafOf(p)]; j != last {
				first, last = append(first, p), j
			}
		}
		u.levels = append(u.levels, newLevel(l.name, first, n))
	}
	return u
}

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
