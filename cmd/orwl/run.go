package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"slices"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/launch"
)

const runText = `Starts PROGRAM N times on this machine, or on others by ssh, as the nodes of one run, with a
new cluster key. Their output appears line by line, behind the number of the node and its
host. When one fails the others are ended, unless the program goes on without it. They are
ended when orwl run is, too. The exit code is the code of the first node that failed.
With -ssh, PROGRAM is on each host in the same folder as here.
`

// runRun is orwl run.
func runRun(f *flag.FlagSet, args []string, out io.Writer) error {
	nodes := f.Int("nodes", 2, "start `N` nodes; with -ssh one on each host by default")
	command.Old(f, "n", "nodes")
	ssh := f.String("ssh", "", command.Usage("ssh", ""))
	listen := f.String("listen", "", "let node 0 "+command.Usage("listen", "; port 0 is any; 127.0.0.1:0 if empty, and with -ssh all interfaces"))
	begin := f.Int("begin", 0, "start `N` of the nodes, and one more at each SIGUSR1, which comes late; ORWL_BEGIN or all if 0")
	restarts := f.Int("restarts", 0, "start lost nodes again, `N` times in all, if the program goes on without them and lets late ones in; ORWL_RESTARTS if 0")
	carrier := f.String("carrier", "", "carry bytes by `NAME`: tcp, private (TCP with a pre-shared key, too) or quic, if PROGRAM links it; ORWL_CARRIER or tcp if empty")
	if err := command.ParseFlags(f, args); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "tcp", "private", "quic"}, *carrier) {
		return command.Misusef("-carrier is %q: want tcp, private or quic", *carrier)
	}
	if f.NArg() == 0 {
		return command.Misusef("no program: name one behind the flags, as in orwl run -nodes 4 -- ./prog")
	}
	var hosts []string
	if *ssh != "" {
		var err error
		if hosts, err = launch.ParseHosts(*ssh); err != nil {
			return command.Misusef("-ssh is %q: %w", *ssh, err)
		}
		if !command.Given(f)["nodes"] {
			*nodes = len(hosts)
		}
	}
	if err := inRange("nodes", *nodes, max(1, len(hosts)), 4096); err != nil {
		return err
	}
	if err := inRange("begin", *begin, 0, *nodes); err != nil {
		return err
	}
	if err := inRange("restarts", *restarts, 0, 1<<16); err != nil {
		return err
	}
	program, err := findProgram(f.Arg(0))
	if err != nil {
		return err
	}
	var env []string
	if *carrier != "" {
		env = append(env, "ORWL_CARRIER="+*carrier)
	}
	err = launch.Spawn(context.Background(), launch.Run{
		Nodes:   *nodes,
		Hosts:   hosts,
		Program: program,
		Args:    f.Args()[1:],
		Env:     env,
		Stdout:  out,
		Stderr:  os.Stderr,
		Listen:  *listen,

		Begin:    *begin,
		Restarts: *restarts,
	})
	if errors.Is(err, launch.ErrOptions) { // the other options have been looked at
		return command.Misusef("-listen: %w", err)
	}
	return err
}
