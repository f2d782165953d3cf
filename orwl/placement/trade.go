package placement

import (
	"cmp"
	"slices"
)

// How long elements of a level trade: as long as it pays, at most maxRounds
// rounds, at most so many looks at a task. Up to allPairs elements, every pair
// trades, since two that share no link may profit from being nearer to a third;
// beyond, only those that do, the heaviest first.
const (
	maxRounds = 6
	maxLooks  = 1 << 19
	allPairs  = 64
	maxTable  = 512 // elements for which distances are kept in a table
)

// pair is two elements that may trade, by their numbers.
type pair struct {
	a, b   int32
	weight int64 // between them
}

// trade lets pairs of elements exchange tasks, which changes part. No pair ends
// with more than it may carry if it did not begin so, and none costs more after.
func (d *descent) trade(part []int32, all []element) {
	members := membersOf(part, len(all))
	changed, looks := make([]bool, len(all)), 0
	for p := range changed {
		changed[p] = true
	}
	t := newTrader(d, part, all)
	for range maxRounds {
		changing := make([]bool, len(all))
		any := false
		for _, p := range d.pairs(part, all) {
			if !changed[p.a] && !changed[p.b] {
				continue
			}
			looks += len(members[p.a]) + len(members[p.b])
			if looks > maxLooks {
				return
			}
			if t.exchange(p, members) {
				changing[p.a], changing[p.b], any = true, true, true
			}
		}
		if !any {
			return
		}
		changed = changing
	}
}

// pairs lists the pairs of elements that trade in a round.
func (d *descent) pairs(part []int32, all []element) (pairs []pair) {
	if len(all) <= allPairs {
		for a := range all {
			for b := range a {
				pairs = append(pairs, pair{a: int32(b), b: int32(a)})
			}
		}
	}
	l := d.links
	for v := range l.tasks() {
		for k := l.start[v]; k < l.start[v+1]; k++ {
			if a, b := part[v], part[l.to[k]]; a < b {
				pairs = append(pairs, pair{a, b, l.weight[k]})
			}
		}
	}
	slices.SortFunc(pairs, func(p, q pair) int { return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b)) })
	merged := pairs[:0]
	for _, p := range pairs {
		if n := len(merged); n > 0 && merged[n-1].a == p.a && merged[n-1].b == p.b {
			merged[n-1].weight += p.weight
		} else {
			merged = append(merged, p)
		}
	}
	slices.SortStableFunc(merged, func(p, q pair) int { return cmp.Compare(q.weight, p.weight) })
	return merged
}

// trader is what trades of one level have in common.
type trader struct {
	*descent
	part    []int32
	all     []element
	far     []uint8 // distance of each two elements, if there are few
	in      *inducer
	refiner refiner
	tasks   []int32
	side    []uint8
	pull    []int64
}

func newTrader(d *descent, part []int32, all []element) *trader {
	t := &trader{descent: d, part: part, all: all, in: newInducer(d.links)}
	if n := len(all); n <= maxTable {
		far := make([]uint8, 0, n*n)
		for a := range int32(n) {
			for b := range int32(n) {
				far = append(far, uint8(t.distance(a, b)))
			}
		}
		t.far = far
	}
	return t
}

func (t *trader) distance(a, b int32) int {
	if t.far != nil {
		return int(t.far[int(a)*len(t.all)+int(b)])
	}
	return distance(t.tree, t.all[a].first, t.all[b].first)
}

// exchange refines the halves that two elements make, and reports whether a task
// changed sides.
func (t *trader) exchange(p pair, members [][]int32) bool {
	a, b := t.all[p.a], t.all[p.b]
	na := len(members[p.a])
	t.tasks = append(append(t.tasks[:0], members[p.a]...), members[p.b]...)
	h := halves{links: t.in.induce(t.links, t.tasks), distance: int64(t.distance(p.a, p.b))}
	t.side = cleared(t.side, len(t.tasks))
	for k := na; k < len(t.tasks); k++ {
		t.side[k] = 1
	}
	h.side = t.side
	var load int64
	for _, w := range h.load {
		load += w
	}
	h.low, h.high = t.balance.bounds(load, a.ranks, b.ranks)
	t.pulls(p)
	h.pull = t.pull
	if !t.refiner.refine(&h) {
		return false
	}
	members[p.a], members[p.b] = members[p.a][:0:0], members[p.b][:0:0]
	for k, v := range t.tasks {
		to := p.a
		if h.side[k] == 1 {
			to = p.b
		}
		t.part[v] = to
		members[to] = append(members[to], v)
	}
	return true
}

// pulls finds how much nearer each task of a pair would be to its neighbours
// elsewhere if it were in b instead of a.
func (t *trader) pulls(p pair) {
	t.pull = cleared(t.pull, len(t.tasks))
	for k, v := range t.tasks {
		for i := t.links.start[v]; i < t.links.start[v+1]; i++ {
			other := t.part[t.links.to[i]]
			if other == p.a || other == p.b {
				continue
			}
			nearer := t.distance(p.a, other) - t.distance(p.b, other)
			t.pull[k] += int64(nearer) * t.links.weight[i]
		}
	}
}
