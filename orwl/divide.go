package orwl

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/orwl/placement"
)

// mostPlaced limits placement: a program with more accesses is dealt by index. Placement
// takes longer the more accesses there are, and every node computes it before the run.
const mostPlaced = 1 << 18

// byIndex deals tasks in their order, as many to each node as to the next or one more. On
// wins.
func (rt *Runtime) byIndex(tasks []*Task) []int {
	on := make([]int, len(tasks))
	for i, t := range tasks {
		if on[i] = i * rt.Nodes() / len(tasks); t.placed {
			on[i] = t.on
		}
	}
	return on
}

// divide returns the node of each of the tasks. Tasks that share much run on the same node, or
// on nodes of one machine, and all nodes run about as many of them. On wins. homes are the resources whose home is
// known. tooLarge says that there are too many accesses to place the tasks.
//
// Every node computes this for itself. The result is the same everywhere, because it
// depends only on the program and on which nodes share a machine. The machines may differ:
// inside a node, seat places the step tasks on the workers of its own machine.
func (rt *Runtime) divide(tasks []*Task, homes map[string]int) (on []int, tooLarge bool, err error) {
	on = rt.byIndex(tasks)
	allSaid := !slices.ContainsFunc(tasks, func(t *Task) bool { return !t.placed })
	if rt.Nodes() == 1 || allSaid {
		return on, false, nil
	}
	s := sharesOf(tasks)
	if len(s.accesses) > mostPlaced {
		return on, true, nil
	}
	g, lump, err := rt.lumps(tasks, s)
	if err != nil {
		return nil, false, err
	}
	m := rt.machines.orOne(rt.Nodes())
	tree, err := m.tree()
	if err != nil {
		return nil, false, fmt.Errorf("orwl: machines %v: %w", m, err)
	}
	p, err := placement.Place(tree, g, placement.Options{})
	if err != nil {
		return nil, false, fmt.Errorf("orwl: placing tasks on nodes: %w", err)
	}
	piece := make([]int, len(tasks))
	for i := range piece {
		piece[i] = int(p.Rank[lump[i]])
	}
	node := rt.claimed(tasks, homes, piece, s, m)
	for i, t := range tasks {
		if !t.placed {
			on[i] = node[piece[i]]
		}
	}
	return on, false, nil
}

// lumps is the graph that divide places, and the number in it of each task. The tasks
// that On has placed on one node are one lump: they stay together, and the tasks that
// share with them are drawn to them. Each other task is a lump of its own. Lumps of many
// tasks come first.
func (rt *Runtime) lumps(tasks []*Task, s shares) (g placement.Graph, lump []int, err error) {
	said := make([]int64, rt.Nodes())
	free := int64(0)
	for _, t := range tasks {
		if t.placed {
			said[t.on]++
		} else {
			free++
		}
	}
	level := levelOf(said, free)
	lumpOf := make([]int, rt.Nodes())
	for node, n := range said {
		if n > 0 {
			lumpOf[node] = len(g.Loads)
			g.Loads = append(g.Loads, min(n, level))
		}
	}
	for _, t := range tasks {
		if t.placed {
			lump = append(lump, lumpOf[t.on])
		} else {
			lump = append(lump, len(g.Loads))
			g.Loads = append(g.Loads, 1)
		}
	}
	g.Tasks = len(g.Loads)
	shared, err := placement.GraphOf(len(tasks), s.accesses, s.sizes)
	if err != nil {
		return g, nil, fmt.Errorf("orwl: placing tasks on nodes: %w", err)
	}
	for _, e := range shared.Edges {
		if a, b := lump[e.A], lump[e.B]; a != b {
			g.Edges = append(g.Edges, placement.Edge{A: a, B: b, Weight: e.Weight})
		}
	}
	return g, lump, nil
}

// levelOf returns how many tasks a node gets if free tasks go to the nodes that have the
// fewest. said are the tasks that the nodes have already. A node with more than the level
// gets no free task.
func levelOf(said []int64, free int64) int64 {
	sorted := slices.Sorted(slices.Values(said))
	sum := free
	for i, n := range sorted {
		sum += n
		nodes := int64(i + 1)
		level := (sum + nodes - 1) / nodes
		if i+1 == len(sorted) || sorted[i+1] >= level {
			return max(1, level)
		}
	}
	return 1 // there is no node
}
