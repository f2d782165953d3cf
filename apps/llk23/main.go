package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/metrics"
	_ "github.com/orwl/go-orwl/net/p2p/quic" // for ORWL_CARRIER=quic
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

func main() {
	ctx, _, interrupted := command.Interrupts()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if code == command.Interrupted && ctx.Err() != nil && !interrupted() {
		code = command.Terminated
	}
	os.Exit(code)
}

// itself is the program, for its version, completion and manual.
var itself = command.Program{
	Name: "llk23", About: "Livermore kernel 23 on ordered read-write locks",
	Flags: func() *flag.FlagSet {
		o := defaults()
		return o.flagSet()
	},
	Alone: alone,
}

// run is the program, alone or as a node of a run. It returns the exit code. As a node of several it leaves SIGTERM to [orwl.Run].
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if code, done := itself.Builtin(args, stdout, stderr); done {
		return code
	}
	var place launch.Place
	o, err := parse(args)
	if err == nil {
		place, err = o.nodes.Place()
	}
	if errors.Is(err, flag.ErrHelp) {
		code, _ := itself.Builtin([]string{"-h"}, stdout, stderr)
		return code
	}
	if err == nil && place.Unmet {
		if place, err = meet(ctx, place, stderr); err != nil {
			fmt.Fprintf(stderr, "llk23: %v\n", err)
			if ctx.Err() != nil {
				return command.Interrupted
			}
			return command.Failed
		}
	}
	var j *job
	if err == nil {
		j, err = newJob(o, place)
	}
	if err != nil {
		fmt.Fprintf(stderr, "llk23: %v (llk23 -h lists the flags)\n", err)
		if errors.Is(err, metrics.ErrTaken) {
			return command.Failed
		}
		return command.Misused
	}
	defer j.close()
	if j.spawns() {
		return j.spawn(ctx, args, stdout, stderr)
	}
	if place.Nodes > 1 {
		signal.Reset(syscall.SIGTERM)
	}
	code := j.run(ctx, stdout, stderr)
	j.monitor.Remain(ctx, j.linger)
	return code
}

// run does the job, and says what has come out. It returns the exit code.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) int {
	r, err := j.do(ctx, stderr)
	if r != nil {
		if failure := r.write(stdout, j.json); err == nil {
			err = failure
		}
	}
	if err == nil {
		return command.Done
	}
	code := command.Failed
	if ctx.Err() != nil {
		code, err = command.Interrupted, fmt.Errorf("stopped without a result: %w", context.Cause(ctx))
	}
	// The launcher says what a signal has done, and a node that has failed says so itself.
	var other *orwl.NodeError
	if !j.place.How.BySpawn() || ctx.Err() == nil && (!errors.As(err, &other) || other.Lost) {
		fmt.Fprintf(stderr, "llk23: %v\n", err)
	}
	return code
}

// do does the job, with the other nodes if there are any. There is a report if there
// is a result, even a wrong one, and this is node 0 of the last life of the run.
func (j *job) do(ctx context.Context, stderr io.Writer) (r *report, err error) {
	log := terminal.Log(stderr, slog.LevelInfo).With("node", j.place.Node)
	var seen *figures
	if j.monitor != nil {
		seen = new(figures)
		j.monitor.Open(log)
		if err := j.monitor.Register(seen); err != nil {
			return nil, err
		}
	}
	var f *field // of this life
	known := &past{Seat: j.place.Node}
	o := orwl.Options{
		Stall: stall, Log: log, PinWorkers: j.pin, Survive: orwl.Survive{Folder: j.survive},
		Observers: append(j.monitor.Observers(), observe(func(e orwl.Event) { f.Observe(e) })),
		Join:      orwl.JoinOptions{Place: &j.place, Network: nodes.Network{Registerer: j.monitor.Registerer()}},
	}
	err = orwl.Run(ctx, o, func(ctx context.Context, rt *orwl.Runtime) (err error) {
		r, f = nil, newField(j.problem, j.grid, j.tasks)
		f.figures, f.films, f.past = seen, show.IsFilm(j.plot), known
		if j.trace != "" {
			f.trace = &tracing{most: mostSlices}
		}
		m := show.Silent()
		if rt.Node() == 0 {
			m = show.NewMeter("llk23", stderr, log)
			if j.why {
				f.why = stderr
			}
		}
		m.Tell = j.place.Progress
		j.monitor.Watch(rt)
		if err = f.solve(ctx, rt, m); err == nil {
			r, err = j.tell(ctx, f, m)
		}
		return err
	})
	if err != nil && !errors.Is(err, errDiffers) {
		return nil, err
	}
	return r, err
}

// observe is an observer.
type observe func(orwl.Event)

// Observe implements orwl.Observer.
func (o observe) Observe(e orwl.Event) { o(e) }

// tell does with a result what the options say, on node 0. The others wait for that: if node 0 is lost meanwhile, they do its work in the next
// life.
func (j *job) tell(ctx context.Context, f *field, m *show.Meter) (r *report, err error) {
	if f.rt.Node() == 0 {
		if r, err = j.save(ctx, f, m); err != nil {
			return r, err
		}
	} else {
		debug.FreeOSMemory() // node 0 may need it
	}
	if _, err = f.rt.Gather(ctx, "told", nil); err != nil {
		return nil, err
	}
	return r, nil
}

// save writes a result, and verifies it.
func (j *job) save(ctx context.Context, f *field, m *show.Meter) (*report, error) {
	r := newReport(f)
	var err error
	if r.SHA256, err = digest(ctx, f.result()); err != nil || f.unread != nil {
		return nil, cmp.Or(err, f.unread)
	}
	for _, o := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{j.out, f.export},
		{j.trace, func(to io.Writer) error { return f.trace.done.WriteChrome(to) }},
		{j.plot, func(to io.Writer) error {
			if f.film != nil {
				return show.WriteFilms(to, f.film)
			}
			return r.plot(to, f.final)
		}},
	} {
		if o.name == "" {
			continue
		}
		if err := outfile.Write(o.name, o.write); err != nil {
			return nil, err
		}
	}
	if !j.verify {
		return r, nil
	}
	took, err := verify(ctx, f, m)
	if err != nil && !errors.Is(err, errDiffers) {
		return nil, err
	}
	r.compared(took, err)
	return r, err
}

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

// The limits keep numbers in range, and a slip of the finger from declaring tasks for hours.
// Memory is checked by [job.fitMemory].
const (
	mostGrid     = 1 << 12
	mostBlocks   = 1 << 16
	mostBlock    = 1 << 20
	mostElements = 1 << 32
	mostIters    = 1 << 30
	mostNodes    = 1 << 12
	mostJoin     = 1 << 10
	mostSweeps   = 64
	mostLinger   = time.Hour
)

// options are what the command line says.
type options struct {
	grid, block      size // zero if not given
	iters, sweeps    int
	kernel           string
	tasks            form
	nodes            command.Nodes
	init             string
	verify, json     bool
	why, pin         bool
	out, trace, plot string // names of files, or none
	survive          string // a folder, or none
	metrics          string // host:port, or none
	linger           time.Duration
}

// The values of -init besides the name of a file.
const (
	initHills  = "hills"
	initNoise  = "noise"
	initSmooth = "smooth" // the old name of noise
	initLFK    = "lfk"
)

// parse reads the command line. Its errors name the flag and the range; asking
// for help is flag.ErrHelp.
func parse(args []string) (options, error) {
	o := defaults()
	fs := o.flagSet()
	if err := command.Parse(fs, args); err != nil {
		return o, err
	}
	if o.linger > 0 && o.metrics == "" {
		return o, fmt.Errorf("-metrics-linger %v: want -metrics as well, which says where", o.linger)
	}
	return o, nil
}

func defaults() options {
	return options{iters: 100, kernel: "listing", tasks: fused, init: initHills, verify: true}
}

func (o *options) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("llk23", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.Var(sizeFlag(&o.grid, mostGrid), "grid", "`RxC` blocks, rows x columns, no more than 65536; 16x1 by default, 4x4 with -block, or what divides the matrix of -init")
	fs.Var(sizeFlag(&o.block, mostBlock), "block", "`RxC` elements in each block; 125x2000 by default, 500x500 with -grid, or what the matrix of -init and -grid give")
	fs.Var(command.Count(&o.iters, mostIters), "iters", "make `N` sweeps over the matrix")
	fs.Var(command.Value(&o.init, "", readInit), "init", "initial values `FROM` hills, noise (old name: smooth), lfk (the original kernel's 5x99), or FILE.npy, "+
		"a float64 matrix with its ring as data beside the coefficients of hills")
	fs.Var(command.Choice(&o.kernel, "listing", "fast"), "kernel", command.Usage("kernel", ", which is the order of additions"))
	fs.Var(command.Whole(&o.sweeps, 0, mostSweeps), "sweeps", "make `N` iterations in one pass over a block, while its rows are in the cache; blocks "+
		"with neighbours have at least as many rows and columns; 0: up to 8 if the matrix does not fit into the caches")
	fs.Var(command.Choice(&o.tasks, fused, nine), "tasks",
		"the `FORM` of the tasks that write a block's frontiers: those that sweep it, or one for each edge and corner")
	fs.Var(command.Switch(&o.verify), "verify", "compare every bit with a sequential sweep; -verify=false skips it")

	o.nodes.Define(fs, mostNodes, mostJoin, "run on `N` nodes, processes of this machine, no more than blocks")
	fs.Var(command.Switch(&o.pin), "pin", "bind each worker to a processor of its own; nodes of one machine each need processors of their own")

	fs.Var(command.Switch(&o.json), "json", command.Usage("json", ", instead of the table"))
	fs.Var(command.File(&o.out, ".npy"), "out", command.Usage("out", ", the final matrix with its ring, to `FILE`.npy, for NumPy"))
	fs.Var(command.File(&o.plot, ".png", ".gif"), "plot", "draw the field, and how much each block waited, in `FILE`.png, or the whole run as a film in FILE.gif")
	fs.StringVar(&o.survive, "survive", "", "keep the run in `FOLDER`, and go on with what is there when all nodes were gone")

	fs.Var(command.Switch(&o.why), "why", command.Usage("why", ", and where each frontier is kept, on standard error when the run begins"))
	fs.Var(command.File(&o.trace, ".json"), "trace", "write what each task did to `FILE`.json, for Perfetto or orwl trace")
	fs.Var(command.Address(&o.metrics), "metrics", command.Usage("metrics", ", such as 127.0.0.1:9464"))
	fs.Var(command.Time(&o.linger, mostLinger), "metrics-linger", "when all is done, serve on until the metrics have been read once more, or for a `TIME`")
	return fs
}

// alone is the help of llk23 without a command.
var alone = command.Command{
	Text: `Sweeps Livermore kernel 23 over a matrix that is cut into a grid of blocks, with a few tasks for
each, and compares every bit with a sequential sweep.

An element takes 48 bytes of memory, 64 while it is verified, and 32 more on several nodes. A run
that needs more memory than is free is refused.`,
	Example: "llk23 -grid 8x8 -block 250x250 -iters 20\nllk23 -nodes 2 -kernel fast -sweeps 4",
	Groups: []command.Group{
		{Title: "what to compute", Flags: "grid block iters init kernel sweeps tasks verify"},
		{Title: "where", Flags: "nodes ssh join pin"},
		{Title: "output", Flags: "json out plot survive"},
		{Title: "watching", Flags: "why trace metrics metrics-linger"},
	},
}

// readInit is what -init says.
func readInit(text string) (string, error) {
	switch {
	case text == initSmooth:
		return initNoise, nil
	case text != initHills && text != initNoise && text != initLFK && !command.Named(text, ".npy"):
		return "", errors.New("want hills, noise, lfk, or the name of a .npy file")
	}
	return text, nil
}

// size is how many rows and columns something has: of blocks, or of elements.
type size struct{ rows, cols int }

func (s size) String() string { return fmt.Sprintf("%dx%d", s.rows, s.cols) }

// times is a grid of s, with so many elements in each.
func (s size) times(each size) size { return size{s.rows * each.rows, s.cols * each.cols} }

func (s size) cells() int64 { return int64(s.rows) * int64(s.cols) }

// divides says that s blocks of the same size fill whole.
func (s size) divides(whole size) bool { return whole.rows%s.rows == 0 && whole.cols%s.cols == 0 }

// sizeFlag is a flag like 4x4, where each number is from 1 to most. The value is zero until the
// flag is given.
func sizeFlag(to *size, most int) flag.Value {
	return command.Value(to, fmt.Sprintf("each 1 to %d", most), func(text string) (size, error) {
		rows, cols, ok := strings.Cut(text, "x")
		r, rowsErr := strconv.Atoi(rows)
		c, colsErr := strconv.Atoi(cols)
		if !ok || rowsErr != nil || colsErr != nil || min(r, c) < 1 || max(r, c) > most {
			return size{}, fmt.Errorf("want rows x columns like 4x4, each from 1 to %d", most)
		}
		return size{r, c}, nil
	})
}
