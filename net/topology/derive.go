package topology

import (
	"fmt"
	"slices"
)

// WithRanks returns the same machine with n ranks, 1..MaxRanks, in the order of
// the leaves of t. Any error is a [*RangeError].
//
// If there are fewer ranks than leaves, WithRanks packs them: rank p takes leaf
// p, so that neighbours are as close as possible. If leaves are hardware threads,
// two ranks then share a core while other cores are idle. Spread does the
// opposite.
//
// If there are more ranks than leaves, every leaf and its CPU carry a block of
// consecutive ranks, and the new leaves are called rank. Blocks differ by at most
// one rank, and the larger ones are spread over the machine.
//
// All levels stay, even if their elements have one rank each, so that settings
// for each level fit any number of ranks. Elements without a rank vanish, and the
// elements after them get lower numbers.
func (t *Tree) WithRanks(n int) (*Tree, error) {
	return t.place("WithRanks", n, n <= t.ranks)
}

// Spread is like WithRanks, but spreads ranks evenly if there are fewer than
// leaves: two ranks on two sockets take one socket each. The order of the ranks
// is the same; neighbours are farther apart.
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
	// The product of two numbers up to MaxRanks needs 64 bits.
	leaves, ranks := uint64(t.ranks), uint64(n)
	return t.carry(n, func(p Rank) Rank { return Rank(uint64(p) * leaves / ranks) }), nil
}

// carry returns the tree of n ranks in which rank p is on leaf leafOf(p). leafOf
// must not decrease.
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

// Under returns a cluster: it puts a copy of t in place of every leaf of the
// description. The last word of the description names a copy. If t is a detected
// machine with two sockets,
//
//	t.Under("rack:2 node:4")
//
// has the levels machine, rack, node and socket. Each node keeps the CPU numbers
// of t.
//
// The names of the description have to be coarser than those inside t, and the
// cluster may have up to MaxRanks ranks. Any error is a [*ParseError]. If nodes
// differ, use Parse instead.
func (t *Tree) Under(text string) (*Tree, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	node := d.words[len(d.words)-1]
	if inside := t.LevelName(2); grain(node.name) >= grain(inside) {
		return nil, d.fail(node.at, node.name,
			fmt.Sprintf("%s does not fit into %s: it is not finer", inside, node.name),
			coarserThan(grain(inside)))
	}
	if node.total > MaxRanks/t.ranks {
		return nil, d.fail(node.at, node.name,
			fmt.Sprintf("the machine is too large: %s:%d with %d ranks each", node.name, node.total, t.ranks),
			fmt.Sprintf("up to %d ranks in all", MaxRanks))
	}
	return d.tree().over(t), nil
}

// over replaces every leaf of t with a copy of u. The machine of the copy becomes
// an element and takes the leaf's name.
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
