package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/orwl/go-orwl/net/topology"
)

// Graph is which tasks give each other how much in a round.
type Graph struct {
	Tasks int      // numbered from 0
	Names []string // one for each task, all different; nil: their numbers
	Loads []int64  // the load of each task, 1 or more; if all are equal or nil: 1 each
	Edges []Edge   // several between two tasks add up
}

// Edge is what goes between two tasks in a round, in either direction.
type Edge struct {
	A, B   int
	Weight int64 // bytes or hand-overs, 0 or more
}

// MaxPlacedTasks is the most tasks that Place takes: beyond any run, and small
// enough for numbers of 32 bits.
const MaxPlacedTasks = 1 << 26

// Name is what task t is called. It panics unless t is a task.
func (g *Graph) Name(t int) string {
	if g.Names == nil && t >= 0 && t < g.Tasks {
		return strconv.Itoa(t)
	}
	return g.Names[t]
}

// index is the number of the task of that name.
func (g *Graph) index(name string) (int, error) {
	if g.Names == nil {
		t, err := strconv.Atoi(name)
		if err == nil && t >= 0 && t < g.Tasks && strconv.Itoa(t) == name {
			return t, nil
		}
		return 0, fmt.Errorf("placement: %w %q: tasks are called 0 to %d", ErrUnknownTask, name, g.Tasks-1)
	}
	for t, known := range g.Names {
		if known == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("placement: %w %q: tasks are called %s", ErrUnknownTask, name, someOf(g.Names, 8))
}

func (g *Graph) validate(tree *topology.Tree) error {
	if g.Tasks < 1 || g.Tasks > MaxPlacedTasks {
		return &Error{"Graph.Tasks", fmt.Sprintf("is %d", g.Tasks), fmt.Sprintf("give 1 to %d", MaxPlacedTasks)}
	}
	if err := g.validateNames(); err != nil {
		return err
	}
	if err := g.validateLoads(tree); err != nil {
		return err
	}
	var sum int64
	farthest := int64(tree.Levels())
	for i, e := range g.Edges {
		what := fmt.Sprintf("edge %d (%d-%d)", i, e.A, e.B)
		switch {
		case e.A < 0 || e.A >= g.Tasks || e.B < 0 || e.B >= g.Tasks:
			return &Error{what, "leads to no task", fmt.Sprintf("number tasks from 0 to %d", g.Tasks-1)}
		case e.A == e.B:
			return &Error{what, "joins a task with itself", "leave it out, it costs nothing anywhere"}
		case e.Weight < 0:
			return &Error{what, fmt.Sprintf("has weight %d", e.Weight), "give 0 or more"}
		// A gain is at most twice what all edges cost when all are far.
		case e.Weight > (math.MaxInt64/4/farthest)-sum:
			return &Error{what, "makes the sum of all weights too large", "count in a larger unit"}
		}
		sum += e.Weight
	}
	return nil
}

func (g *Graph) validateNames() error {
	if g.Names == nil {
		return nil
	}
	if len(g.Names) != g.Tasks {
		return &Error{"Graph.Names", fmt.Sprintf("has %d names for %d tasks", len(g.Names), g.Tasks), "name all or none"}
	}
	first := make(map[string]int, g.Tasks)
	for t, name := range g.Names {
		if u, known := first[name]; known {
			return &Error{fmt.Sprintf("tasks %d and %d", u, t), fmt.Sprintf("are both called %q", name), "make names different"}
		}
		first[name] = t
	}
	return nil
}

func (g *Graph) validateLoads(tree *topology.Tree) error {
	if g.Loads == nil {
		return nil
	}
	if len(g.Loads) != g.Tasks {
		return &Error{"Graph.Loads", fmt.Sprintf("has %d loads for %d tasks", len(g.Loads), g.Tasks), "give one for each task, or nil"}
	}
	var sum int64
	for t, load := range g.Loads {
		if load < 1 {
			return &Error{"task " + g.Name(t), fmt.Sprintf("has load %d", load), "give 1 or more"}
		}
		// Blocks in order multiply a sum of loads by the number of ranks.
		if load > math.MaxInt64/4/int64(tree.Ranks())-sum {
			return &Error{"task " + g.Name(t), "makes the sum of all loads too large", "count in a larger unit"}
		}
		sum += load
	}
	return nil
}

// Access is one access that a task makes to a resource in every round.
type Access struct {
	Task, Resource int
	Write          bool
}

// HandOverWeight is what a hand-over counts besides the bytes that travel with
// it: about what a stream between two nodes carries (0.7 GiB/s) in the time that
// an empty message takes (half of 17 to 39 µs).
const HandOverWeight = 8192

// GraphOf is the graph of tasks that make these accesses in a round, to resources
// of these sizes in bytes.
//
// A reader gets a resource from the last writer before it in the canonical order. If
// there is no writer before it, this is the last writer of all, from the round before. So
// one edge leads from each reader to its writer, and one from each writer to the next.
// Each edge weighs the resource's size and [HandOverWeight]. A resource without writers
// travels only once and makes no edge. Tasks are in the canonical order by their numbers.
//
// The error is a [*Error].
func GraphOf(tasks int, accesses []Access, sizes []int) (Graph, error) {
	g := Graph{Tasks: tasks}
	if err := validateAccesses(accesses, tasks, len(sizes)); err != nil {
		return g, err
	}
	for r, size := range sizes {
		if size < 0 || int64(size) > math.MaxInt64-HandOverWeight {
			return g, &Error{fmt.Sprintf("resource %d", r), fmt.Sprintf("has size %d", size), "give 0 or more bytes"}
		}
	}
	for same := range byResource(accesses) {
		weight := int64(sizes[same[0].Resource]) + HandOverWeight
		from := lastWriter(same)
		for _, a := range same {
			if from >= 0 && from != a.Task {
				g.Edges = append(g.Edges, Edge{from, a.Task, weight})
			}
			if a.Write {
				from = a.Task
			}
		}
	}
	return g, nil
}

// byResource yields the accesses to each resource, in the order of tasks.
func byResource(accesses []Access) func(yield func([]Access) bool) {
	sorted := slices.Clone(accesses)
	slices.SortStableFunc(sorted, func(a, b Access) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Task, b.Task))
	})
	return func(yield func([]Access) bool) {
		for len(sorted) > 0 {
			n := 1
			for n < len(sorted) && sorted[n].Resource == sorted[0].Resource {
				n++
			}
			if !yield(sorted[:n]) {
				return
			}
			sorted = sorted[n:]
		}
	}
}

// lastWriter is the task that writes last in a round, or -1.
func lastWriter(accesses []Access) int {
	for _, a := range slices.Backward(accesses) {
		if a.Write {
			return a.Task
		}
	}
	return -1
}

func validateAccesses(accesses []Access, tasks, resources int) error {
	for i, a := range accesses {
		what := fmt.Sprintf("access %d", i)
		if a.Task < 0 || a.Task >= tasks {
			return &Error{what, fmt.Sprintf("is by task %d", a.Task), fmt.Sprintf("number tasks from 0 to %d", tasks-1)}
		}
		if a.Resource < 0 || a.Resource >= resources {
			return &Error{what, fmt.Sprintf("is to resource %d", a.Resource), fmt.Sprintf("number resources from 0 to %d", resources-1)}
		}
	}
	return nil
}

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
