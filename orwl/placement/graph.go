package placement

import (
	"fmt"
	"math"
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
