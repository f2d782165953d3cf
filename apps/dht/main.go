package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/apps/dht/resp"
	"github.com/orwl/go-orwl/apps/dht/table"
	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
)

// serveTo is dht serve, which says what it does to complaints.
func serveTo(complaints io.Writer) func(f *flag.FlagSet, args []string, out io.Writer) error {
	return func(f *flag.FlagSet, args []string, out io.Writer) error {
		ctx, stop, interrupted := command.Interrupts()
		defer stop()
		err := serve(ctx, f, args, out, complaints)
		if interrupted() && (err == nil || errors.Is(err, context.Canceled)) {
			return command.ErrInterrupted
		}
		return err
	}
}

// serve serves until ctx is done, alone or as a node of a run, or starts the nodes
// of one.
func serve(ctx context.Context, f *flag.FlagSet, args []string, out, complaints io.Writer) error {
	var o serveFlags
	o.define(f)
	if err := command.Parse(f, args); err != nil {
		return err
	}
	place, err := o.nodes.Place()
	if err != nil {
		return err
	}
	if err := o.check(place); err != nil {
		return err
	}
	if place.Unmet {
		log := terminal.Log(complaints, slog.LevelInfo)
		log.Info("looking for the other processes of the table", "nodes", place.Nodes)
		if place, err = orwl.Meet(ctx, place, orwl.JoinOptions{Log: log}); err != nil {
			return err
		}
	}
	s := serving{serveFlags: o, place: place}
	if s.secret, err = o.password(os.LookupEnv); err != nil {
		return err
	}
	if o.nodes.Spawns(place) {
		// A fault in the last node's address is a fault in the command line.
		if _, err := o.address(o.nodes.Nodes-1, s.secret); err != nil {
			return err
		}
		return s.spawn(args, out, complaints)
	}
	s.log = terminal.Log(complaints, slog.LevelInfo).With("node", place.Node)
	return s.run(ctx)
}

// spawn runs this program once for each node. Signals go to the nodes, which end by themselves.
// The nodes get the password that this process was given in a variable.
func (s *serving) spawn(args []string, out, complaints io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var env []string
	if password, is := os.LookupEnv(passwordVariable); is {
		env = append(env, passwordVariable+"="+password)
	}
	return launch.Spawn(context.Background(), launch.Run{
		Nodes: s.nodes.Nodes, Hosts: s.nodes.Hosts(), Program: program, Args: append([]string{"serve"}, args...), Env: env, Stdout: out, Stderr: complaints,
	})
}

// serving is a node that serves, or is about to.
type serving struct {
	serveFlags
	secret  string
	place   launch.Place
	log     *slog.Logger
	display *display
}

// drained is for how long clients that are being answered may take, when the server
// ends.
const drained = 3 * time.Second

// restful is how often memory that was not needed since goes back to the system.
const restful = 10 * time.Second

// run serves until ctx is done.
func (s *serving) run(ctx context.Context) (err error) {
	at, err := s.address(s.place.PortOffset(), s.secret)
	if err != nil {
		return err
	}
	// The port comes first: if another program has it, the nodes need not meet.
	listener, err := net.ListenTCP("tcp", at)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("%v is taken: end what listens there, or choose another by -listen", at)
		}
		return fmt.Errorf("cannot listen at %v: %s", at, plain(err))
	}
	defer listener.Close()
	if s.display, err = show(s.metrics, s.guard, s.place); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.display.Close()) }()
	memory := budget.New(s.memory * mebi)
	memory.Govern()
	store, nodes, leave, err := s.open(ctx, memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	server, err := resp.New(resp.Options{
		Store: store, Password: s.secret, Clients: s.clients, Idle: s.idle, Bulk: s.bulk, Memory: memory, Log: s.log, Timed: s.display.timed(),
	})
	if err == nil {
		err = s.display.follow(nodes, store, server, s.log)
	}
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	resting := time.NewTicker(restful)
	defer resting.Stop()
	s.log.Info("serving redis clients", "address", listener.Addr().String(), "nodes", max(1, s.place.Nodes), "password", s.secret != "")
	s.log.Info("all keys are kept in memory only: those of a node are gone when it ends")
	for going := true; going; {
		select {
		case err = <-ended:
			server.Close()
			return err
		case <-resting.C:
			memory.Rest()
		case <-ctx.Done():
			going = false
		}
	}
	s.log.Info("ending")
	patience, cancel := context.WithTimeout(context.Background(), drained)
	defer cancel()
	if server.Shutdown(patience) != nil {
		s.log.Warn("clients were cut off", "after", drained)
	}
	<-ended
	return nil
}

// passwordVariable is the environment variable that may hold the password. The password is
// never an argument, because all users see the arguments of a process.
const passwordVariable = "DHT_PASSWORD"

// longestPassword is more than people type, and less than a file that was named by mistake.
const longestPassword = 4096

// longestFile leaves room for comments behind the password.
const longestFile = 1 << 20

// password is what clients must give, or nothing.
func (o *serveFlags) password(lookup func(string) (string, bool)) (string, error) {
	if o.passwordFile == "" {
		text, set := lookup(passwordVariable)
		if set && text == "" {
			return "", command.Misusef("%s is set and empty: give it a password, or unset it", passwordVariable)
		}
		return text, nil
	}
	content, err := launch.ReadPrivate(o.passwordFile, longestFile)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", command.Misusef("-password-file is %q: %w", o.passwordFile, err)
	}
	line, _, _ := strings.Cut(string(content), "\n")
	switch line = strings.TrimRight(line, "\r"); {
	case line == "":
		return "", command.Misusef("-password-file is %q: its first line is empty, want the password", o.passwordFile)
	case len(line) > longestPassword:
		return "", command.Misusef("-password-file is %q: its first line is longer than %d bytes", o.passwordFile, longestPassword)
	}
	return line, nil
}

// parting is for how long a node waits for the others when it leaves.
const parting = time.Second

// open makes the table, with the other nodes if there are any, and tells how to leave
// it.
func (s *serving) open(ctx context.Context, memory *budget.Budget) (_ *table.Strings, _ *orwl.Nodes, leave func() error, err error) {
	if s.place.Begin > 0 {
		return nil, nil, nil, command.Misusef("ORWL_BEGIN is %d, and the table needs all its %d nodes from the beginning: unset it", s.place.Begin, s.place.Nodes)
	}
	run, err := orwl.Join(ctx, orwl.JoinOptions{
		Place: &s.place, Log: quieter(s.log), Network: nodes.Network{Registerer: s.display.Registerer()},
	})
	if err != nil {
		return nil, nil, nil, err
	}
	depart := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), parting)
		defer cancel()
		if err := run.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil // it does not wait for nodes that go on serving, or are gone
	}
	t, err := table.NewStrings(ctx, table.Options{
		Nodes: run, Volumes: s.volumes, First: s.firstBytes(max(1, s.place.Nodes)), Most: s.volumeBytes(max(1, s.place.Nodes)), Memory: memory, Guard: s.guard, Watch: s.display.watch(),
	})
	if err != nil {
		return nil, nil, nil, errors.Join(err, depart())
	}
	if s.place.GoOn != nil { // a launcher need not end the table when a node is lost
		err = s.place.GoOn()
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, t.Close(), depart())
	}
	return t, run, func() error { return errors.Join(t.Close(), depart()) }, nil
}

// quieter leaves away what nodes say about themselves when all is well.
func quieter(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

// warnings is a handler of what is at least a warning.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// serveFlags are the flags of dht serve.
type serveFlags struct {
	addr         string
	passwordFile string
	clients      int
	idle         time.Duration
	bulk         int
	nodes        command.Nodes
	volumes      int
	memory       int // MiB
	guard        string
	metrics      string
}

// The limits keep a slip of the finger from asking for all memory.
const (
	mostServeNodes = 1 << 6
	mostVolumes    = 1 << 16
	mostMemory     = 1 << 20 // MiB, of a node
	volumesOfNode  = 64
	defaultMemory  = 4096 // MiB
	mebi           = 1 << 20
)

func (o *serveFlags) define(f *flag.FlagSet) {
	o.clients, o.bulk, o.memory = resp.DefaultClients, resp.DefaultBulk, defaultMemory
	f.StringVar(&o.addr, "listen", "127.0.0.1:6379", command.Usage("listen", ", node i at PORT+i, any free port if that is 0; beyond this machine only with a password"))
	command.Old(f, "addr", "listen")
	f.StringVar(&o.passwordFile, "password-file", "", "clients must give the password that is the first line of `FILE`; without it that of the variable "+passwordVariable+", if there is one")
	f.Var(command.Count(&o.clients, resp.MostClients), "clients", "a node serves at most `N` clients at a time")
	f.DurationVar(&o.idle, "idle", 0, "hang up on clients that send or take nothing for a `TIME`, such as 5m; never if 0")
	f.Var(command.Whole(&o.bulk, resp.LeastBulk, resp.MostBulk), "bulk", "a client's string has at most `N` bytes")
	o.nodes.Define(f, mostServeNodes, mostServeNodes, "start `N` nodes, processes of this machine that share the table")
	f.Var(command.Whole(&o.volumes, 0, mostVolumes), "volumes", "the table has `N` volumes, 64 for each node if 0")
	f.Var(command.Count(&o.memory, mostMemory), "memory", "a node takes `N` MiB at most for keys and clients, and up to 64 MiB beside them for itself")
	f.StringVar(&o.metrics, "metrics", "", command.Usage("metrics", ", such as 127.0.0.1:9470"))
	f.StringVar(&o.guard, "guard", "RMA-RW", "the `LOCK` of a volume: any of kind read-write that orwl locks shows")
}

// check complains about flags that are out of their range, for a process in that
// place.
func (o *serveFlags) check(place launch.Place) error {
	nodes := max(1, place.Nodes, o.nodes.Nodes)
	if o.idle != 0 && o.idle < time.Millisecond {
		return command.Misusef("-idle is %v, want 0 or at least 1ms", o.idle)
	}
	if o.volumes == 0 {
		o.volumes = volumesOfNode * nodes
	}
	if first := o.firstBytes(nodes); first < leastVolumeBytes {
		return command.Misusef("-memory is %d and -volumes %d, which leaves a volume %d bytes, want at least %d: ask for fewer volumes, or more memory", o.memory, o.volumes, first, leastVolumeBytes)
	}
	return guardExists(o.guard)
}

// guardExists complains about what no volume can be locked by.
func guardExists(name string) error {
	var names []string
	for _, l := range locks.All() {
		if l.Kind == locks.ReaderWriter {
			names = append(names, l.Name)
		}
	}
	if !slices.Contains(names, name) {
		return command.Misusef("-guard is %q, want %s", name, strings.Join(names, ", "))
	}
	return nil
}

// The sizes that a volume may grow to.
const (
	leastVolumeBytes = 8 << 10
	firstVolumeBytes = 64 << 10
	mostVolumeBytes  = 4 << 30
)

// volumeBytes is how large each volume may grow: as large as all of them together, since what they
// take together is limited elsewhere. The addresses of a process are many, but not endless.
func (o *serveFlags) volumeBytes(nodes int) int {
	return min(o.memory*mebi, mostVolumeBytes, mostAddresses*nodes/o.volumes) &^ 15
}

// mostAddresses is how many bytes of addresses the volumes of a node take.
const mostAddresses = 1 << 45

// firstBytes is how large each volume is at first: all together half of the memory, at most.
func (o *serveFlags) firstBytes(nodes int) int {
	return min(o.memory*mebi/2*nodes/o.volumes, firstVolumeBytes) &^ (4<<10 - 1)
}

// address is where a node listens. Without a password that must be where only this
// machine can connect.
func (o *serveFlags) address(node int, password string) (*net.TCPAddr, error) {
	host, port, err := net.SplitHostPort(o.addr)
	if err != nil {
		return nil, command.Misusef("-listen is %q, want HOST:PORT such as 127.0.0.1:6379", o.addr)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 0 || number > 1<<16-1 {
		return nil, command.Misusef("-listen is %q, want a port from 0 to 65535", o.addr)
	}
	if number != 0 {
		number += node
	}
	if number > 1<<16-1 {
		return nil, command.Misusef("-listen is %q, which leaves no port for node %d", o.addr, node)
	}
	at, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, strconv.Itoa(number)))
	if err != nil {
		return nil, command.Misusef("-listen is %q: %s", o.addr, plain(err))
	}
	if password == "" && !at.IP.IsLoopback() {
		return nil, command.Misusef("-listen is %q, where other machines can connect: set a password by -password-file or %s, or listen at 127.0.0.1", o.addr, passwordVariable)
	}
	return at, nil
}

// plain is what went wrong on the network, without what was tried.
func plain(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return fmt.Sprintf("no address of %s: %s", name.Name, name.Err)
	}
	return strings.TrimPrefix(err.Error(), "bind: ")
}

func main() {
	if started, err := benchProcess(); started {
		if err != nil {
			fmt.Fprintln(os.Stderr, "dht bench:", err)
			os.Exit(command.Failed)
		}
		return
	}
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(args []string, out, complaints io.Writer) int {
	return itself(complaints).Execute(args, out, complaints)
}

// itself is the program, whose server says what it does to complaints.
func itself(complaints io.Writer) command.Program {
	return command.Program{Name: "dht", About: "a distributed hash table that speaks to redis clients", Commands: []command.Command{
		{Name: "serve", About: "serve a hash table, in memory only, to redis clients",
			Text:    "All keys are kept in memory only: those of a node are gone when it ends.",
			Example: "dht serve -nodes 2 -memory 1024\nDHT_PASSWORD=... dht serve -listen :6379",
			Groups: []command.Group{{Title: "clients", Flags: "listen password-file clients idle bulk"},
				{Title: "the table", Flags: "memory volumes guard"}, {Title: "nodes", Flags: "nodes ssh join"}, {Title: "watching", Flags: "metrics"}},
			Run: serveTo(complaints)},
		{Name: "bench", About: "look up and insert elements of one volume from all other ranks, as the paper does",
			Example: "dht bench -window sim -ranks 16,64 -ops 50",
			Groups: []command.Group{{Title: "what to compute", Flags: "fw disciplines ops elements buckets heap seed"},
				{Title: "where", Flags: "window ranks topology machine nodes repeats"}, {Title: "options of RMA-RW", Flags: "tl tdc tr"},
				{Title: "output", Flags: "json csv"}},
			Run: runBench},
	}}
}
