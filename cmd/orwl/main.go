package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl/launch"
)

var program = command.Program{Name: "orwl", About: "the toolbox of ordered read-write locks", Commands: []command.Command{
	{Name: "run", About: "start a program on several nodes of this machine, and end them together",
		Usage: "orwl run [FLAGS] [--] PROGRAM [ARGUMENT...]", Text: runText,
		Example: "orwl run -nodes 4 -- ./prog -size 1000\norwl run -ssh node[1-4] -- ./prog",
		Groups:  []command.Group{{Title: "nodes", Flags: "nodes ssh listen carrier begin restarts"}}, Run: runRun},
	{Name: "why", About: "name the culprit of a run that stands still, over all its nodes, in one line",
		Usage: "orwl why [FLAGS] [HOST:PORT...]", Text: whyText, Example: "orwl why\norwl why node1:9464 node2:9465",
		Groups: []command.Group{{Title: "output", Flags: "json"}}, Run: runWhy},
	{Name: "top", About: "show in this terminal what the tasks of a run do, and which wait longest",
		Usage: "orwl top [FLAGS] [HOST:PORT...]", Text: topText, Example: "orwl top",
		Groups: []command.Group{{Title: "output", Flags: "once"}}, Run: runTop},
	{Name: "serve", About: "keep locks by name for any process: orwl lock, and programs that dial",
		Text: serveText, Example: "orwl serve -listen 127.0.0.1:6795",
		Groups: []command.Group{{Title: "where and for how long", Flags: "listen find lease metrics"}}, Run: runServe},
	{Name: "lock", About: "run a command while a lock is held, as flock does, on any machine",
		Usage: "orwl lock [FLAGS] NAME -- COMMAND [ARGUMENT...]", Text: lockText, Example: "orwl lock backup -- ./backup.sh",
		Groups: []command.Group{{Title: "how to wait", Flags: "try wait read"}, {Title: "the server", Flags: "at find"}}, Run: runLock},
	{Name: "holders", About: "show who holds a lock by name and who waits, or release one by force",
		Usage: holdersUsage, Text: holdersText, Example: "orwl holders -watch backup",
		Groups: []command.Group{{Title: "what to do", Flags: "watch release fence"}, {Title: "the server", Flags: "at find"}, {Title: "output", Flags: "json"}}, Run: runHolders},
	{Name: "locks", About: "show the table of locks: what each promises, takes and costs",
		Example: "orwl locks -topology node:2,core:8",
		Groups:  []command.Group{{Title: "what to show", Flags: "topology json"}}, Run: runLocks},
	{Name: "vet", About: "say whether a system of tasks lives for ever, or where it deadlocks",
		Usage: "orwl vet [FLAGS] FILE\norwl vet -lives N [FLAGS] -- PROGRAM [ARGUMENT...]", Text: vetText, Example: "orwl vet tasks.txt\norwl vet -speed -times times.txt tasks.txt",
		Groups: []command.Group{{Title: "speed", Flags: "speed times workers"}, {Title: "a program", Flags: "lives ignore"}, {Title: "output", Flags: "order json"}}, Run: runVet},
	{Name: "trace", About: "say where the time of a recorded run went, and which tasks it waited for",
		Usage: "orwl trace report [FLAGS] FILE", Text: traceText, Example: "orwl trace report -html run.html run.json",
		Groups: []command.Group{{Title: "output", Flags: "html waits json"}}, Run: runTrace},
	{Name: "play", About: "serve a page with a simulator: tasks and their proof, locks and their schedules",
		Text: playText, Example: "orwl play\norwl play -page play.html",
		Groups: []command.Group{{Title: "output", Flags: "page listen"}}, Run: runPlay},
	{Name: "topo", About: "show the machine as the tree that the locks see",
		Example: "orwl topo\norwl topo -under \"node:4\"",
		Groups:  []command.Group{{Title: "which machine", Flags: "topology under ranks"}, {Title: "output", Flags: "json"}}, Run: runTopo},
	{Name: "place", About: "put tasks near those they share with, on a described machine",
		Example: "orwl place -topology node:2,core:4 -graph ring:16",
		Groups:  []command.Group{{Title: "what to place", Flags: "graph topology"}, {Title: "output", Flags: "why task json"}}, Run: runPlace},
}}

func main() {
	os.Exit(program.Execute(os.Args[1:], os.Stdout, os.Stderr))
}

// inRange complains about a number outside its range.
func inRange(name string, value, least, most int) error {
	if value < least || value > most {
		return command.Misusef("-%s is %d, want %d to %d", name, value, least, most)
	}
	return nil
}

// writeJSON writes a value in lines that people can read, too.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// input opens a file that a command reads, and refuses a folder. The error says what the file should be.
func input(name, want string) (*os.File, error) {
	file, err := os.Open(name)
	if err == nil {
		info, bad := file.Stat()
		if err = bad; bad == nil && info.IsDir() {
			err = syscall.EISDIR
		}
		if err != nil {
			file.Close()
		}
	}
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err // the name is said already
	}
	if err != nil {
		return nil, fmt.Errorf("%w: want %s", err, want)
	}
	return file, nil
}

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
