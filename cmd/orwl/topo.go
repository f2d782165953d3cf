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
	text := f.String("topology", "", "show `LEVEL:N ...` instead of the machine at hand")
	under := f.String("under", "", "stand the machine under `LEVEL:N ...`, for instance \"rack:2 node:4\"")
	ranks := f.Int("ranks", 0, "let the machine carry `N` ranks; one for each leaf if 0")
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
	fmt.Fprintf(out, "%s\n\n%s\n", tree, tree.Picture())
	return nil
}
