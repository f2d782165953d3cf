package placement

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
