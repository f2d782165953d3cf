package placement

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
