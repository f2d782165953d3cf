package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

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
