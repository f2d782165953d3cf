package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// spawn runs this program once for each node, on this machine or over ssh, and returns the exit
// code. Node 0 prints the result, as it would alone. The lines of other nodes begin with
// the number of the node. This process shows how far all are together. Signals go to the nodes,
// which end by themselves. A node that exits with a code has said why. After an interrupt it says
// nothing, because all would say the same.
func (j *job) spawn(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	program, err := os.Executable()
	if err == nil {
		all := show.Crew{Meter: show.NewMeter("llk23", stderr, terminal.Log(stderr, slog.LevelInfo))}
		err = launch.Spawn(context.Background(), launch.Run{
			Nodes: j.nodes.Nodes, Hosts: j.nodes.Hosts(), Program: program, Args: args,
			Stdout: all.Over(stdout), Stderr: all.Over(stderr), Plain: true, Progress: all.Hear,
		})
		all.Clear()
	}
	if err == nil {
		return command.Done
	}
	var failed *launch.NodeError
	code := command.Failed
	if errors.As(err, &failed) {
		code = failed.ExitCode()
	}
	switch {
	case code == command.Interrupted, code == command.Terminated && ctx.Err() != nil, ctx.Err() != nil && failed != nil && failed.Code == command.Failed:
		// A node may hear of another's interrupt before its own, and then fails.
		code = command.Interrupted
		why := "interrupted"
		if cause := context.Cause(ctx); cause != nil {
			why = cause.Error()
		}
		fmt.Fprintln(stderr, "llk23: stopped without a result:", why)
	case failed == nil || failed.Err != nil || failed.Signal != nil:
		fmt.Fprintf(stderr, "llk23: %v\n", err)
	}
	return code
}

// meet finds the other processes of the run, which have no numbers yet.
func meet(ctx context.Context, place launch.Place, stderr io.Writer) (launch.Place, error) {
	log := terminal.Log(stderr, slog.LevelInfo)
	log.Info("looking for the other processes of the run", "nodes", place.Nodes)
	place, err := orwl.Meet(ctx, place, orwl.JoinOptions{Log: log})
	if err == nil {
		log.Info("all are there", "node", place.Node)
	}
	return place, err
}
