package placement

import (
	"math/bits"

	"github.com/orwl/go-orwl/net/topology"
)

// bisector divides a graph in two: it coarsens the graph until little is left,
// grows a half from several seeds there, and refines the best on the way back.
type bisector struct {
	refiner refiner
	heap    gainHeap
	gain    []int64
}

// fewLumps is how small a graph is on which halves are grown, and fewSeeds from
// how many tasks.
const (
	fewLumps = 80
	fewSeeds = 12
)

// bisect returns the side of each task. Side 0 carries between low and high,
// if the tasks can be divided so at all.
//
// For many programs the order of numbers is an order of the data, so what comes of
// lumps has to beat what the order gives.
func (b *bisector) bisect(l *links, low, high int64) []uint8 {
	lumped := halves{links: l, side: b.divide(l, low, high, 0), low: low, high: high, distance: 1}
	ordered := halves{links: l, low: low, high: high, distance: 1}
	ordered.side = b.grow(&ordered, -1)
	b.refiner.refine(&ordered)
	if ordered.before(&lumped) {
		return ordered.side
	}
	return lumped.side
}

// before reports whether h is better: less excess, or as much and a smaller cut.
func (h *halves) before(other *halves) bool {
	excess, otherExcess := h.excess(h.loadOfSide0()), other.excess(other.loadOfSide0())
	return excess < otherExcess || excess == otherExcess && h.cut() < other.cut()
}

// divide is bisect with bounds that are wider by the given slack. Lumps do not
// fill a side exactly, and if they had to, the few sides that happen to fit would
// be taken at any cost. So lumps may miss the bounds by one of them, and what is
// finer makes up for it.
func (b *bisector) divide(l *links, low, high, slack int64) []uint8 {
	if l.tasks() > fewLumps {
		var total, heaviest int64
		for _, w := range l.load {
			total += w
		}
		c, lump := l.coarser(max(1, total*3/(2*fewLumps)))
		// A graph that does not shrink is small enough as it is.
		if c.tasks() <= l.tasks()*9/10 {
			for _, w := range c.load {
				heaviest = max(heaviest, w)
			}
			coarse := b.divide(c, low, high, heaviest)
			h := halves{links: l, side: make([]uint8, l.tasks()), low: low - slack, high: high + slack, distance: 1}
			for v, m := range lump {
				h.side[v] = coarse[m]
			}
			b.refiner.refine(&h)
			return h.side
		}
	}
	return b.start(l, low-slack, high+slack)
}

// start is the best half grown from any seed.
func (b *bisector) start(l *links, low, high int64) []uint8 {
	best := halves{links: l, low: low, high: high, distance: 1}
	seeds := min(fewSeeds, l.tasks())
	for i := range seeds {
		h := best
		h.side = b.grow(&h, i*(l.tasks()-1)/max(seeds-1, 1))
		b.refiner.refine(&h)
		if best.side == nil || h.before(&best) {
			best = h
		}
	}
	return best.side
}

// grow adds tasks to side 0, beginning with the seed, always the one that adds
// least to the cut and touches the grown part. A seed of -1 adds them by number.
// It returns the moment of least cut within the bounds.
func (b *bisector) grow(h *halves, seed int) []uint8 {
	side := make([]uint8, h.tasks())
	for v := range side {
		side[v] = 1
	}
	b.gain = cleared(b.gain, h.tasks())
	for v := range b.gain {
		for _, w := range h.weight[h.start[v]:h.start[v+1]] {
			b.gain[v] -= w
		}
	}
	b.heap.reset(b.gain)
	if seed >= 0 {
		b.heap.push(int32(seed))
	}
	var order []int32
	var load, cut, bestCut int64
	best, bestExcess := 0, h.excess(0)
	next := int32(0) // no task below is on side 1
	for load < h.high {
		var v int32
		if len(b.heap.items) > 0 {
			v = b.heap.pop()
		} else {
			for int(next) < len(side) && side[next] == 0 {
				next++
			}
			if int(next) == len(side) {
				break
			}
			v = next
		}
		side[v] = 0
		order = append(order, v)
		load += h.load[v]
		cut -= b.gain[v]
		for k := h.start[v]; k < h.start[v+1]; k++ {
			u := h.to[k]
			b.gain[u] += 2 * h.weight[k]
			switch {
			case side[u] == 0 || seed < 0:
			case b.heap.has(u):
				b.heap.fix(u)
			default:
				b.heap.push(u)
			}
		}
		if excess := h.excess(load); excess < bestExcess || excess == bestExcess && cut < bestCut {
			best, bestExcess, bestCut = len(order), excess, cut
		}
	}
	for _, v := range order[best:] {
		side[v] = 1
	}
	return side
}

// cut is the weight between the sides.
func (h *halves) cut() (sum int64) {
	for v := range h.tasks() {
		for k := h.start[v]; k < h.start[v+1]; k++ {
			if h.side[v] == 0 && h.side[h.to[k]] == 1 {
				sum += h.weight[k]
			}
		}
	}
	return sum
}

// coarser is a graph of lumps of one or two tasks of l, and which lump each task
// is in. A task is joined with the one to which it has the heaviest link
// (heavy-edge matching), so that heavy links vanish into lumps before any is cut.
// Among equals it takes the lighter partner, then the one with the lower number: a
// grid numbered by rows becomes a grid of dominoes and then of squares.
//
// The leaves of a star all want its centre, which takes one: the others are
// joined in twos, and so are tasks without links. No lump is heavier than heavy.
func (l *links) coarser(heavy int64) (*links, []int32) {
	const free = -1
	lump := make([]int32, l.tasks())
	for v := range lump {
		lump[v] = free
	}
	waiting := make([]int32, l.tasks()+1) // by wanted task, and for those without: 1 + who waited last
	var first []int32                     // of each lump
	join := func(v, u int32) {
		lump[v], lump[u] = int32(len(first)), int32(len(first))
		first = append(first, v)
	}
	for v := range int32(l.tasks()) {
		if lump[v] != free {
			continue
		}
		wanted, mate := int32(l.tasks()), int32(free)
		var most, weight int64
		for k := l.start[v]; k < l.start[v+1]; k++ {
			u, w := l.to[k], l.weight[k]
			if w > most {
				wanted, most = u, w
			}
			if lump[u] != free || l.load[v]+l.load[u] > heavy {
				continue
			}
			if mate == free || w > weight || w == weight && l.load[u] < l.load[mate] {
				mate, weight = u, w
			}
		}
		switch other := waiting[wanted] - 1; {
		case mate != free:
			join(v, mate)
		case other >= 0 && lump[other] == free && l.load[v]+l.load[other] <= heavy:
			join(other, v)
		default:
			waiting[wanted] = v + 1
		}
	}
	for v := range int32(l.tasks()) {
		if lump[v] == free {
			join(v, v)
		}
	}
	return l.lumped(lump, len(first)), lump
}

// lumped is the graph of n lumps. Links inside a lump vanish, parallel ones add
// up.
func (l *links) lumped(lump []int32, n int) *links {
	c := &links{start: make([]int, 1, n+1), load: make([]int64, n)}
	members := make([][2]int32, n) // 1 + each of the tasks, 0 for none
	for v, m := range lump {
		c.load[m] += l.load[v]
		if members[m][0] == 0 {
			members[m][0] = int32(v) + 1
		} else {
			members[m][1] = int32(v) + 1
		}
	}
	at := make([]int, n) // by lump: 1 + where its link stands in the row that is made
	for m, both := range members {
		begin := c.start[m]
		for _, v := range both {
			if v == 0 {
				continue
			}
			for k := l.start[v-1]; k < l.start[v]; k++ {
				u := lump[l.to[k]]
				switch {
				case int(u) == m:
				case at[u] > begin:
					c.weight[at[u]-1] += l.weight[k]
				default:
					c.to, c.weight = append(c.to, u), append(c.weight, l.weight[k])
					at[u] = len(c.to)
				}
			}
		}
		c.start = append(c.start, len(c.to))
	}
	return c
}

// balance is how much a rank, and a group of ranks, may carry.
type balance struct {
	ranks int
	total int64
	limit int64 // of a rank
	floor int64 // of a rank
	even  bool  // all tasks have load 1
}

// tolerance is by how much of the average load a rank may exceed the average, if tasks
// differ in load.
const tolerance = 0.05

// newBalance takes the limit from the tolerance, or if tasks are too coarse for
// that, from the best blocks in order: those always exist, so that there is
// always a placement within the limit.
func newBalance(load []int64, ranks int) balance {
	b := balance{ranks: ranks}
	var heaviest int64
	for _, w := range load {
		b.total += w
		heaviest = max(heaviest, w)
	}
	b.even = heaviest == 1
	average := (b.total + int64(ranks) - 1) / int64(ranks)
	if b.even {
		b.limit, b.floor = average, b.total/int64(ranks)
		return b
	}
	low, high := max(average, heaviest), average+heaviest
	for low < high {
		middle := low + (high-low)/2
		if b.blocksWithin(load, middle) <= ranks {
			high = middle
		} else {
			low = middle + 1
		}
	}
	b.limit = max(low, int64(float64(b.total)/float64(ranks)*(1+tolerance)))
	return b
}

// blocksWithin counts the blocks in order of at most the given load each.
func (b *balance) blocksWithin(load []int64, limit int64) int {
	blocks, filled := 1, int64(0)
	for _, w := range load {
		if filled+w > limit {
			blocks, filled = blocks+1, 0
		}
		filled += w
	}
	return blocks
}

// inOrder gives every rank a block of tasks in the order of their numbers:
// where blocks that begin at even distances are within the limit those, else
// blocks that are filled up to it. Fewer tasks than ranks take the first ranks.
func (b *balance) inOrder(load []int64) []topology.Rank {
	placed := make([]topology.Rank, len(load))
	if b.even && len(load) <= b.ranks {
		for t := range placed {
			placed[t] = topology.Rank(t)
		}
		return placed
	}
	var before int64
	for t, w := range load {
		placed[t] = topology.Rank(before * int64(b.ranks) / b.total)
		before += w
	}
	if b.holds(load, placed) {
		return placed
	}
	rank, filled := topology.Rank(0), int64(0)
	for t, w := range load {
		if filled+w > b.limit {
			rank, filled = rank+1, 0
		}
		filled += w
		placed[t] = rank
	}
	return placed
}

// holds reports whether every rank is within its limits.
func (b *balance) holds(load []int64, placed []topology.Rank) bool {
	for _, w := range loadsOf(b.ranks, load, placed) {
		if w > b.limit || w < b.floor {
			return false
		}
	}
	return true
}

func loadsOf(ranks int, load []int64, placed []topology.Rank) []int64 {
	loads := make([]int64, ranks)
	for t, r := range placed {
		loads[r] += load[t]
	}
	return loads
}

// capacity is what a group of ranks may carry. Tasks that differ do not fill
// ranks without gaps, so a group keeps some of its ranks' tolerance back, the
// more the oftener it is still to be divided. A group's parts together may
// therefore carry more than the group.
func (b *balance) capacity(ranks int) int64 {
	n := int64(ranks)
	if b.even {
		return n * b.limit
	}
	average := b.total * n / int64(b.ranks)
	return average + (n*b.limit-average)/int64(1+bits.Len(uint(ranks-1)))
}

// bounds is what the first of two groups of ranks may carry if both together
// carry the given load.
func (b *balance) bounds(load int64, ranks, others int) (low, high int64) {
	low = max(load-b.capacity(others), int64(ranks)*b.floor)
	high = min(b.capacity(ranks), load-int64(others)*b.floor)
	if low > high { // the load is too much for both: each bears its share
		low = load / int64(ranks+others) * int64(ranks)
		high = low
	}
	return low, high
}
