package placement

import (
	"cmp"
	"slices"
)

// halves is a graph whose tasks are on side 0 or 1, and what to do about it.
type halves struct {
	*links
	side      []uint8
	low, high int64 // the bounds of the load of side 0
	distance  int64 // cost of a unit of weight between the sides

	// pull is by how much a task would cost less on side 1 for its links that
	// lead out of the graph; nil if none does.
	pull []int64
}

// excess is how far a load of side 0 is outside its bounds.
func (h *halves) excess(load int64) int64 { return max(h.low-load, load-h.high, 0) }

func (h *halves) loadOfSide0() (sum int64) {
	for v, s := range h.side {
		if s == 0 {
			sum += h.load[v]
		}
	}
	return sum
}

// refiner moves tasks between two sides (Fiduccia and Mattheyses, 1982). It is
// kept for its memory.
type refiner struct {
	gain  []int64
	heap  [2]gainHeap // tasks that have not moved yet, by side
	moved []int32
}

// maxPasses bounds what a pass hardly ever needs: passes end when they gain
// nothing.
const maxPasses = 8

// refine makes the sides better and reports whether it could: less excess
// first, less cost among equals.
func (r *refiner) refine(h *halves) (better bool) {
	for range maxPasses {
		if !r.pass(h) {
			break
		}
		better = true
	}
	return better
}

// pass moves every task once at most. It always moves the task that gains most, also
// if that is a loss. Then it takes back the moves after the best moment. While a load is
// outside the bounds, it only moves tasks back, so that two full sides trade tasks one by
// one.
func (r *refiner) pass(h *halves) bool {
	r.begin(h)
	load := h.loadOfSide0()
	var gained, bestGain int64
	best, bestExcess, patience := 0, h.excess(load), 100+h.tasks()/50
	for len(r.moved) < best+patience {
		s := r.from(h, load)
		if s < 0 {
			break
		}
		v := r.heap[s].pop()
		gained += r.gain[v]
		if s == 0 {
			load -= h.load[v]
		} else {
			load += h.load[v]
		}
		r.move(h, v)
		excess := h.excess(load)
		if excess < bestExcess || excess == bestExcess && gained > bestGain {
			best, bestExcess, bestGain = len(r.moved), excess, gained
		}
	}
	for _, v := range r.moved[best:] {
		h.side[v] ^= 1
	}
	return best > 0
}

func (r *refiner) begin(h *halves) {
	r.gain, r.moved = cleared(r.gain, h.tasks()), r.moved[:0]
	r.heap[0].reset(r.gain)
	r.heap[1].reset(r.gain)
	for v := range h.tasks() {
		s := h.side[v]
		var gain int64
		for k := h.start[v]; k < h.start[v+1]; k++ {
			if h.side[h.to[k]] == s {
				gain -= h.weight[k]
			} else {
				gain += h.weight[k]
			}
		}
		gain *= h.distance
		if h.pull != nil {
			gain += h.pull[v] * (1 - 2*int64(s))
		}
		r.gain[v] = gain
		r.heap[s].items = append(r.heap[s].items, int32(v))
	}
	r.heap[0].fill()
	r.heap[1].fill()
}

// from is the side to take a task from, or -1 if there is none.
func (r *refiner) from(h *halves, load int64) int {
	none0, none1 := len(r.heap[0].items) == 0, len(r.heap[1].items) == 0
	switch {
	case none0 && none1, load > h.high && none0, load < h.low && none1:
		return -1
	case load > h.high, none1:
		return 0
	case load < h.low, none0:
		return 1
	}
	gain0, gain1 := r.gain[r.heap[0].items[0]], r.gain[r.heap[1].items[0]]
	if gain0 > gain1 || gain0 == gain1 && load-h.low >= h.high-load {
		return 0
	}
	return 1
}

func (r *refiner) move(h *halves, v int32) {
	h.side[v] ^= 1
	s := h.side[v]
	r.moved = append(r.moved, v)
	for k := h.start[v]; k < h.start[v+1]; k++ {
		u := h.to[k]
		if h.side[u] == s {
			r.gain[u] -= 2 * h.weight[k] * h.distance
		} else {
			r.gain[u] += 2 * h.weight[k] * h.distance
		}
		if heap := &r.heap[h.side[u]]; heap.has(u) {
			heap.fix(u)
		}
	}
}

// gainHeap holds tasks, the one with the greatest gain on top and the lowest
// number among equals. Buckets, as in Fiduccia and Mattheyses, would need gains
// to be few small numbers; here they are bytes.
type gainHeap struct {
	gain  []int64 // by task; call fix after a change
	items []int32
	at    []int32 // by task: 1 + its place in items, 0 if not in this heap
}

// reset empties the heap and makes it fit for tasks of these gains.
func (h *gainHeap) reset(gain []int64) {
	h.gain, h.items = gain, h.items[:0]
	h.at = cleared(h.at, len(gain))
}

func (h *gainHeap) has(v int32) bool { return h.at[v] > 0 }

func (h *gainHeap) before(v, u int32) bool {
	return h.gain[v] > h.gain[u] || h.gain[v] == h.gain[u] && v < u
}

func (h *gainHeap) push(v int32) {
	h.items = append(h.items, v)
	h.up(len(h.items)-1, v)
}

// fill makes a heap of everything that append put into items.
func (h *gainHeap) fill() {
	for i, v := range h.items {
		h.at[v] = int32(i) + 1
	}
	for i := len(h.items)/2 - 1; i >= 0; i-- {
		h.down(i, h.items[i])
	}
}

func (h *gainHeap) pop() int32 {
	top, last := h.items[0], len(h.items)-1
	v := h.items[last]
	h.items = h.items[:last]
	h.at[top] = 0
	if last > 0 {
		h.down(0, v)
	}
	return top
}

// fix puts a task of the heap where its gain now belongs.
func (h *gainHeap) fix(v int32) {
	i := int(h.at[v]) - 1
	h.up(i, v)
	if h.items[i] == v {
		h.down(i, v)
	}
}

func (h *gainHeap) up(i int, v int32) {
	for i > 0 {
		above := (i - 1) / 2
		u := h.items[above]
		if !h.before(v, u) {
			break
		}
		h.items[i], h.at[u] = u, int32(i)+1
		i = above
	}
	h.items[i], h.at[v] = v, int32(i)+1
}

func (h *gainHeap) down(i int, v int32) {
	for {
		below := 2*i + 1
		if below >= len(h.items) {
			break
		}
		if right := below + 1; right < len(h.items) && h.before(h.items[right], h.items[below]) {
			below = right
		}
		u := h.items[below]
		if !h.before(u, v) {
			break
		}
		h.items[i], h.at[u] = u, int32(i)+1
		i = below
	}
	h.items[i], h.at[v] = v, int32(i)+1
}

// cleared is a slice of n zeros, in the memory of s if that is enough.
func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

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
