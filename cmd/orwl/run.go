package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/launch"
)

const runFormat = `usage: orwl run [-n N] [-listen HOST:PORT] [--] PROGRAM [ARGUMENT...]

Starts PROGRAM N times on this machine, as the nodes of one run, with a new cluster
key. What they write appears line by line, behind the number of its node. When one
fails the others are ended, unless the program goes on without it, and so they are when
orwl run is. The exit code is that of the first node that failed.

flags:
`

// runRun is orwl run.
func runRun(f *flag.FlagSet, args []string, out io.Writer) error {
	nodes := f.Int("n", 2, "start `N` nodes")
	listen := f.String("listen", "127.0.0.1:0", "node 0 listens on `HOST:PORT`; port 0 is any")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, runFormat)
		f.SetOutput(out)
		f.PrintDefaults()
		return nil
	} else if err != nil {
		return command.Misusef("%w", err)
	}
	if f.NArg() == 0 {
		return command.Misusef("no program: name one behind the flags, as in orwl run -n 4 -- ./prog")
	}
	if err := inRange("n", *nodes, 1, 4096); err != nil {
		return err
	}
	program, err := exec.LookPath(f.Arg(0))
	if err != nil {
		return command.Misusef("%w", err)
	}
	err = launch.Spawn(context.Background(), launch.Run{
		Nodes:   *nodes,
		Program: program,
		Args:    f.Args()[1:],
		Stdout:  out,
		Stderr:  os.Stderr,
		Listen:  *listen,
	})
	if errors.Is(err, launch.ErrOptions) { // the other options have been looked at
		return command.Misusef("-listen: %w", err)
	}
	return err
}
