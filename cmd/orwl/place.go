package main

import (
	"flag"
	"io"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/orwl/placement"
)

// runPlace is orwl place.
func runPlace(f *flag.FlagSet, args []string, out io.Writer) error {
	text := f.String("topology", "", "place on `LEVEL:N ...` instead of the machine at hand")
	graph := f.String("graph", "grid:16x16", "the `GRAPH` of tasks: grid:WxH, ring:N, or a file of lines \"TASK TASK WEIGHT\"")
	why := f.Bool("why", false, "tell for every rank and task what is near it")
	task := f.String("task", "", "with -why: tell it of the task `NAME` only, in words")
	if err := command.Parse(f, args); err != nil {
		return err
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
	placement, err := placement.Place(tree, g, placement.Options{})
	if err != nil {
		return command.Misusef("-graph: %w", err)
	}
	switch {
	case !*why:
		return placement.Summary(out)
	case *task == "":
		return placement.Report(out)
	}
	if _, err := placement.Why(*task); err != nil {
		return command.Misusef("-task: %w", err)
	}
	return placement.Report(out, *task)
}
