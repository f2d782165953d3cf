package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// newLevel makes a level from the first rank of each element. Elements are
// contiguous, so nothing else is needed. It may append to first.
func newLevel(name string, first []Rank, ranks int) level {
	elementOf := make([]int32, ranks)
	bounds := append(first, Rank(ranks))
	for j := range first {
		for p := bounds[j]; p < bounds[j+1]; p++ {
			elementOf[p] = int32(j)
		}
	}
	return level{name: name, elementOf: elementOf, first: bounds}
}

// newMachine returns a tree that has level 1 only. The caller appends finer
// levels.
func newMachine(ranks int, leaf string, cpus []int) *Tree {
	machine := newLevel(levelNames[0], []Rank{0}, ranks)
	return &Tree{levels: []level{machine}, ranks: ranks, leaf: leaf, cpus: cpus}
}

// Flat returns a tree with one level, the machine, and the given number of ranks.
// It panics unless that number is 1..MaxRanks.
func Flat(ranks int) *Tree {
	if ranks < 1 || ranks > MaxRanks {
		panic(&RangeError{Method: "Flat", What: "number of ranks", Value: ranks, Low: 1, High: MaxRanks})
	}
	return newMachine(ranks, "rank", nil)
}

// CPU describes one hardware thread: its number, and the numbers of the socket,
// NUMA node, cache and core around it. Only the equality and order of the latter
// four matter. If a socket, NUMA node or cache is not known, use the same number
// for all CPUs, such as -1. If the core is not known, use Number.
type CPU struct {
	Number int // its number in the operating system; Tree.CPU returns it
	Socket int
	NUMA   int // the memory node
	Cache  int // the last-level cache
	Core   int
}

// cpuLevels are the levels that FromCPUs may make, from coarse to fine.
var cpuLevels = [...]string{"socket", "numa", "cache", "core"}

func (c CPU) inside() [len(cpuLevels)]int {
	return [...]int{c.Socket, c.NUMA, c.Cache, c.Core}
}

// FromCPUs returns the tree of a machine with the given CPUs and one rank on each.
// Ranks are sorted by socket, NUMA node, cache, core and number of their CPU.
//
// Levels below the machine are socket, numa, cache and core. FromCPUs leaves out
// a level if it has the same elements as the level above, or if each of its
// elements is a single CPU. The leaves are called thread if two of them share a
// core, and core otherwise.
//
// On some machines a memory node spans sockets or lies inside a cache. Therefore
// two CPUs are in the same element of a level only if they agree in this level
// and in all levels above it.
//
// FromCPUs does not change or keep the slice. It panics with a [*RangeError]
// unless there are 1..MaxRanks CPUs.
func FromCPUs(cpus []CPU) *Tree {
	if len(cpus) < 1 || len(cpus) > MaxRanks {
		panic(&RangeError{Method: "FromCPUs", What: "number of CPUs", Value: len(cpus), Low: 1, High: MaxRanks})
	}
	cpus = slices.Clone(cpus)
	slices.SortFunc(cpus, func(a, b CPU) int {
		x, y := a.inside(), b.inside()
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a.Number, b.Number))
	})
	numbers := make([]int, len(cpus))
	for p, c := range cpus {
		numbers[p] = c.Number
	}
	t := newMachine(len(cpus), "thread", numbers)
	for i, name := range cpuLevels {
		first := []Rank{0}
		for p := 1; p < len(cpus); p++ {
			before, here := cpus[p-1].inside(), cpus[p].inside()
			if !slices.Equal(before[:i+1], here[:i+1]) {
				first = append(first, Rank(p))
			}
		}
		if name == "core" && len(first) == len(cpus) {
			t.leaf = name
		}
		above := t.levels[len(t.levels)-1]
		if len(first) > above.elements() && len(first) < len(cpus) {
			t.levels = append(t.levels, newLevel(name, first, len(cpus)))
		}
	}
	return t
}

// tree builds the tree of a description, from the leaves up: an element begins
// where its first part begins.
func (d *description) tree() *Tree {
	n := len(d.words)
	leaves := d.words[n-1]
	t := newMachine(leaves.total, leaves.name, nil)
	t.levels = append(t.levels, make([]level, n-1)...)
	var parts []Rank // first ranks of the level below; nil while it consists of the ranks
	for k := n - 1; k > 0; k-- {
		parts = begins(d.words[k].runs, parts)
		t.levels[k] = newLevel(d.words[k-1].name, parts, t.ranks)
	}
	return t
}

// begins returns the first rank of every element. counts says how many parts each
// element has, and parts the first rank of every part; if parts is nil, the parts
// are ranks.
func begins(counts []run, parts []Rank) (first []Rank) {
	part := 0
	for _, r := range counts {
		for range r.times {
			if parts == nil {
				first = append(first, Rank(part))
			} else {
				first = append(first, parts[part])
			}
			part += r.value
		}
	}
	return first
}

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
