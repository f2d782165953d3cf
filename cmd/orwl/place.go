package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/orwl/placement"
)

// runPlace is orwl place.
func runPlace(f *flag.FlagSet, args []string, out io.Writer) error {
	text := f.String("topology", "", command.Usage("topology", "; without it, this machine"))
	graph := f.String("graph", "grid:16x16", "the `GRAPH` of tasks: grid:WxH, ring:N, or a file of lines \"TASK TASK WEIGHT\"")
	why := f.Bool("why", false, command.Usage("why", ", for every rank and task"))
	task := f.String("task", "", "with -why: tell it of the task `NAME` only, in words")
	asJSON := f.Bool("json", false, command.Usage("json", ": the costs, and the rank of each task"))
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if *why && *asJSON {
		return command.Misusef("-json and -why exclude each other: -json has the rank of each task")
	}
	if *task != "" && !*why {
		return command.Misusef("-task %s says nothing without -why", *task)
	}
	tree, err := host.Detect()
	if *text != "" {
		if tree, err = topology.Parse(*text); err != nil {
			return command.Misusef("-topology: %w", err)
		}
	}
	if err != nil {
		return err
	}
	g, err := taskGraph(*graph)
	if err != nil {
		return command.Misusef("-graph: %w", err)
	}
	chosen, err := placement.Place(tree, g)
	if err != nil {
		return command.Misusef("-graph: %w", err)
	}
	switch {
	case *asJSON:
		return writeJSON(out, placedTasks(tree, g, chosen))
	case !*why:
		return chosen.Summary(out)
	case *task == "":
		return chosen.Report(out)
	}
	if _, err := chosen.Why(*task); err != nil {
		return command.Misusef("-task: %w", err)
	}
	return chosen.Report(out, *task)
}

// placed is a placement as JSON.
type placed struct {
	Topology   string      `json:"topology"`
	Ranks      int         `json:"ranks"`
	Limit      int         `json:"limit"` // the most tasks of a rank
	Links      int         `json:"links"`
	Weight     int64       `json:"weight"` // of all links
	Cost       placedCost  `json:"cost"`
	InOrder    placedCost  `json:"cost_in_order"`
	RoundRobin placedCost  `json:"cost_round_robin"`
	Tasks      []rankOfOne `json:"tasks"`
}

type placedCost struct {
	Total      int64   `json:"total"`
	ByDistance []int64 `json:"by_distance"` // from one rank to the whole machine
}

type rankOfOne struct {
	Task string `json:"task"`
	Rank int    `json:"rank"`
}

func placedTasks(tree *topology.Tree, g placement.Graph, p *placement.Placement) placed {
	all := placed{Topology: tree.String(), Ranks: tree.Ranks(), Limit: int(p.Limit), Cost: placedCost(p.Cost),
		InOrder: placedCost(p.InOrder), RoundRobin: placedCost(p.RoundRobin)}
	all.Links, all.Weight = p.Links()
	for t, r := range p.Rank {
		all.Tasks = append(all.Tasks, rankOfOne{g.Name(t), int(r)})
	}
	return all
}

// runTopo is orwl topo.
func runTopo(f *flag.FlagSet, args []string, out io.Writer) error {
	text := f.String("topology", "", command.Usage("topology", "; without it, this machine"))
	under := f.String("under", "", "put the machine under these levels: `LEVEL:N ...`, such as \"rack:2 node:4\"")
	ranks := f.Int("ranks", 0, "let the machine carry `N` ranks; one for each leaf if 0")
	asJSON := f.Bool("json", false, command.Usage("json", ""))
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if err := inRange("ranks", *ranks, 0, topology.MaxRanks); err != nil {
		return err
	}
	tree, err := host.Detect()
	if *text != "" {
		if tree, err = topology.Parse(*text); err != nil {
			return command.Misusef("-topology: %w", err)
		}
	}
	if err != nil {
		return err
	}
	if *under != "" {
		if tree, err = tree.Under(*under); err != nil {
			return command.Misusef("-under: %w", err)
		}
	}
	if *ranks > 0 {
		if tree, err = tree.WithRanks(*ranks); err != nil {
			return command.Misusef("-ranks: %w", err)
		}
	}
	if *asJSON {
		return writeJSON(out, machineOfTree(tree))
	}
	_, err = fmt.Fprintf(out, "%s\n\n%s\n", tree, tree.Picture())
	return err
}

// machineTree is a tree as JSON.
type machineTree struct {
	Topology string         `json:"topology"` // for -topology
	Ranks    int            `json:"ranks"`
	Levels   []machineLevel `json:"levels"` // from the machine to those with ranks
	CPUs     []int          `json:"cpus,omitempty"`
}

// machineLevel is a level: the ranks of each element begin with one of First.
type machineLevel struct {
	Name     string `json:"name"`
	Elements int    `json:"elements"`
	First    []int  `json:"first_ranks"`
}

func machineOfTree(t *topology.Tree) machineTree {
	m := machineTree{Topology: t.String(), Ranks: t.Ranks()}
	for i := 1; i <= t.Levels(); i++ {
		l := machineLevel{Name: t.LevelName(i), Elements: t.Elements(i)}
		for j := range l.Elements {
			first, _ := t.Members(i, j)
			l.First = append(l.First, int(first))
		}
		m.Levels = append(m.Levels, l)
	}
	for p := range topology.Rank(t.Ranks()) {
		if cpu, ok := t.CPU(p); ok {
			m.CPUs = append(m.CPUs, cpu)
		}
	}
	return m
}
