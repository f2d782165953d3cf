package spread

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/placement"
)

// mostPlaced limits placement: a program with more accesses is dealt by index. Placement
// takes longer the more accesses there are, and every node computes it before the run.
const mostPlaced = 1 << 18

// tooLarge reports whether there are too many accesses to place the tasks.
func (p *Program) tooLarge() bool { return len(p.Accesses) > mostPlaced }

// decided reports whether nothing is left to place on nodes.
func (p *Program) decided() bool { return p.Nodes == 1 || !slices.Contains(p.On, Free) }

// Dealt reports whether Divide deals tasks by index, because there are too many accesses.
func (p *Program) Dealt() bool { return !p.decided() && p.tooLarge() }

// Divide returns the node of each task. Tasks that share much run on the same node, or on nodes of
// one machine, and nodes of the same weight run about as many of them. The nodes that the program has said win. A
// program that is too large is dealt by index.
//
// Every node computes this for itself. The result is the same everywhere, because it depends only
// on the program and on which nodes share a machine. The machines may differ: inside a node,
// [Program.Seats] places tasks on the workers of its own machine.
func (p *Program) Divide() ([]int, error) {
	on := p.ByIndex()
	if p.decided() || p.tooLarge() {
		return on, nil
	}
	g, lump, err := p.lumps()
	if err != nil {
		return nil, err
	}
	m := p.Machines.orOne(p.Nodes)
	parts := p.parts()
	tree, err := topology.Parse(m.level(parts))
	if err != nil {
		return nil, fmt.Errorf("orwl: machines %v: %w", m, err)
	}
	placed, err := placement.Place(tree, g)
	if err != nil {
		return nil, fmt.Errorf("orwl: placing tasks on nodes: %w", err)
	}
	if parts != nil {
		for i := range on {
			on[i] = m.nodeOf(int(placed.Rank[i]), parts)
		}
		return on, nil
	}
	piece := make([]int, len(on))
	for i := range piece {
		piece[i] = int(placed.Rank[lump[i]])
	}
	node := p.claimed(piece, m)
	for i, said := range p.On {
		if said == Free {
			on[i] = node[piece[i]]
		}
	}
	return on, nil
}

// If the nodes have different weights, each task of a program of up to mostAlone is a part of the work. Otherwise there are fewParts. So the
// number of tasks in a part, which differs by one, changes the shares by less than a sixteenth.
const (
	mostAlone = 1024
	fewParts  = 64
)

// parts are how many equal parts of the work each node gets, so that it has its share. It is nil if all nodes get as much.
func (p *Program) parts() []int {
	if balance.Equal(p.Weights) || !p.Weighed() {
		return nil
	}
	parts := len(p.On)
	if parts > mostAlone {
		parts = fewParts
	}
	return balance.Shares(max(parts, p.Nodes), p.Weights)
}

// Seats returns the rank of each task on a tree of workers, one for each rank. Too many accesses
// are dealt by index.
func (p *Program) Seats(tree *topology.Tree) ([]int, error) {
	if p.tooLarge() {
		return seatsByIndex(len(p.On), tree.Ranks()), nil
	}
	g, err := placement.GraphOf(len(p.On), p.Accesses, p.Sizes)
	if err != nil {
		return nil, fmt.Errorf("orwl: placing tasks on workers: %w", err)
	}
	placed, err := placement.Place(tree, g)
	if err != nil {
		return nil, fmt.Errorf("orwl: placing tasks on workers: %w", err)
	}
	seats := make([]int, len(placed.Rank))
	for i, rank := range placed.Rank {
		seats[i] = int(rank)
	}
	return seats, nil
}

// seatsByIndex deals tasks to workers in their order.
func seatsByIndex(tasks, workers int) []int {
	seats := make([]int, tasks)
	for i := range seats {
		seats[i] = i * workers / tasks
	}
	return seats
}

// lumps is the graph that Divide places, and the number in it of each task. The tasks for which the
// program has said one node are one lump: they stay together, and the tasks that share with them
// are drawn to them. Each other task is a lump of its own. Lumps of many tasks come first.
func (p *Program) lumps() (g placement.Graph, lump []int, err error) {
	said := make([]int64, p.Nodes)
	free := int64(0)
	for _, on := range p.On {
		if on == Free {
			free++
		} else {
			said[on]++
		}
	}
	level := levelOf(said, free)
	lumpOf := make([]int, p.Nodes)
	for node, n := range said {
		if n > 0 {
			lumpOf[node] = len(g.Loads)
			g.Loads = append(g.Loads, min(n, level))
		}
	}
	for _, on := range p.On {
		if on == Free {
			lump = append(lump, len(g.Loads))
			g.Loads = append(g.Loads, 1)
		} else {
			lump = append(lump, lumpOf[on])
		}
	}
	g.Tasks = len(g.Loads)
	shared, err := placement.GraphOf(len(p.On), p.Accesses, p.Sizes)
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
