package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

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
