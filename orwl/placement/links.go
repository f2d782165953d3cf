package placement

// links is a graph of tasks, or of lumps of tasks, in compressed rows: those
// linked to v are to[start[v]:start[v+1]]. Every link stands in both rows, and
// two tasks have one link at most.
type links struct {
	start  []int
	to     []int32
	weight []int64
	load   []int64 // of each task
}

func (l *links) tasks() int { return len(l.load) }

// links adds parallel edges up. Rows come out sorted: the edges are dealt out by
// one end and then by the other.
func (g *Graph) links() *links {
	l := &links{load: make([]int64, g.Tasks)}
	for t := range l.load {
		l.load[t] = 1
		// Tasks of one load are counted in tasks, so that they balance exactly.
		if g.Loads != nil && !allEqual(g.Loads) {
			l.load[t] = g.Loads[t]
		}
	}
	halves := make([]Edge, 0, 2*len(g.Edges))
	for _, e := range g.Edges {
		if e.Weight > 0 {
			halves = append(halves, e, Edge{e.B, e.A, e.Weight})
		}
	}
	byB := dealt(halves, g.Tasks, func(e Edge) int { return e.B })
	l.start = make([]int, 1, g.Tasks+1)
	row := 0
	for _, e := range dealt(byB, g.Tasks, func(e Edge) int { return e.A }) {
		for ; row < e.A; row++ {
			l.start = append(l.start, len(l.to))
		}
		if last := len(l.to) - 1; last >= l.start[row] && int(l.to[last]) == e.B {
			l.weight[last] += e.Weight
			continue
		}
		l.to, l.weight = append(l.to, int32(e.B)), append(l.weight, e.Weight)
	}
	for ; row < g.Tasks; row++ {
		l.start = append(l.start, len(l.to))
	}
	return l
}

func allEqual(loads []int64) bool {
	for _, load := range loads {
		if load != loads[0] {
			return false
		}
	}
	return true
}

// dealt is a stable counting sort of edges by one end.
func dealt(edges []Edge, tasks int, end func(Edge) int) []Edge {
	next := make([]int, tasks+1)
	for _, e := range edges {
		next[end(e)+1]++
	}
	for t := range tasks {
		next[t+1] += next[t]
	}
	sorted := make([]Edge, len(edges))
	for _, e := range edges {
		sorted[next[end(e)]] = e
		next[end(e)]++
	}
	return sorted
}

// inducer cuts parts out of a graph again and again, and keeps its memory.
type inducer struct {
	local []int32 // by task of the whole: 1 + its number in the part, 0 if outside
	part  links
}

func newInducer(whole *links) *inducer { return &inducer{local: make([]int32, whole.tasks())} }

// induce is the part of the graph that has the given tasks, renumbered in their
// order. It is valid until the next call.
func (in *inducer) induce(whole *links, tasks []int32) *links {
	p := &in.part
	p.start, p.to, p.weight, p.load = append(p.start[:0], 0), p.to[:0], p.weight[:0], p.load[:0]
	for i, v := range tasks {
		in.local[v] = int32(i) + 1
	}
	for _, v := range tasks {
		for k := whole.start[v]; k < whole.start[v+1]; k++ {
			if u := in.local[whole.to[k]]; u > 0 {
				p.to, p.weight = append(p.to, u-1), append(p.weight, whole.weight[k])
			}
		}
		p.start = append(p.start, len(p.to))
		p.load = append(p.load, whole.load[v])
	}
	for _, v := range tasks {
		in.local[v] = 0
	}
	return p
}
