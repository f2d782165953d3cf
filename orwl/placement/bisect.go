package placement

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
