package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
	nodes, join      int    // zero if not given
	ssh              string // a list of hosts, or none
	init             string
	verify, json     bool
	why, pin         bool
	out, trace, plot string // names of files, or none
	metrics          string // host:port, or none
	linger           time.Duration
}

// What -init can say besides the name of a file.
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
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if o.nodes > 0 && o.join > 0 {
		return o, fmt.Errorf("-nodes %d and -join %d: want one of them", o.nodes, o.join)
	}
	if o.linger > 0 && o.metrics == "" {
		return o, fmt.Errorf("-metrics-linger %v: want -metrics as well, which says where", o.linger)
	}
	hosts := len(o.hosts())
	if o.nodes == 0 {
		o.nodes = hosts
	}
	if o.nodes < hosts {
		return o, fmt.Errorf("-nodes %d: want at least %d, as many as -ssh names hosts", o.nodes, hosts)
	}
	return o, nil
}

func defaults() options {
	return options{iters: 100, sweeps: 1, kernel: "listing", tasks: fused, init: initHills, verify: true}
}

func (o *options) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("llk23", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.Var(sizeFlag{&o.grid, mostGrid}, "grid", "blocks, rows x columns, no more than 65536")
	fs.Var(sizeFlag{&o.block, mostBlock}, "block", "elements in each block, rows x columns")
	fs.Var(count{&o.iters, mostIters}, "iters", "sweeps over the matrix")
	fs.Var(count{&o.sweeps, mostSweeps}, "sweeps", "iterations in one pass over a block, while its rows are in the cache; blocks "+
		"with neighbours have at least as many rows and columns")
	fs.Var(choice{&o.kernel, kernelNames()}, "kernel", "order of additions")
	fs.Var(choice{(*string)(&o.tasks), []string{string(fused), string(nine)}}, "tasks",
		"tasks that write a block's frontiers: those that sweep it, or one for each edge and corner")
	fs.Var(count{&o.nodes, mostNodes}, "nodes", "processes on this machine, no more than blocks; in a run that something else has "+
		"started, as many as that has, or not given")
	fs.Var(hostsFlag{&o.ssh}, "ssh", "the nodes run on these hosts, node[1-4] for four, which ssh reaches without a question, and where this "+
		"program and this folder have the same path")
	fs.Var(count{&o.join, mostJoin}, "join", "be one of so many processes on this network that find each other; all have the same "+
		"ORWL_KEY_FILE and the same flags")
	fs.Var(initFlag{&o.init}, "init", "initial values: hills, noise (old name: smooth), lfk (the original kernel's 5x99), or FILE.npy, "+
		"a float64 matrix with its ring as data beside the coefficients of hills")
	fs.Var(toggle{&o.verify}, "verify", "compare every bit with a sequential sweep; -verify=false skips it")
	fs.Var(toggle{&o.json}, "json", "print one JSON object instead of the table")
	fs.Var(toggle{&o.pin}, "pin", "bind each worker to a processor of its own; nodes of one machine each need processors of their own")
	fs.Var(toggle{&o.why}, "why", "when the run begins, tell on standard error which task runs where, which frontier is kept where, and why")
	fs.Var(fileFlag{&o.out, ".npy"}, "out", "write the final matrix, its ring included, for NumPy")
	fs.Var(fileFlag{&o.trace, ".json"}, "trace", "write what each task did, for Perfetto or chrome://tracing")
	fs.Var(fileFlag{&o.plot, ".png"}, "plot", "draw the field, and how much each block waited")
	fs.Var(addressFlag{&o.metrics}, "metrics", "serve metrics for Prometheus, profiles and the run's state while it lasts, such as at 127.0.0.1:9464; node i "+
		"at the port plus i; beyond loopback only with a cluster key")
	fs.Var(timeFlag{&o.linger, mostLinger}, "metrics-linger", "when all is done, serve on until the metrics have been read once more, or for so long")
	return fs
}

// usage is the help, in an order that makes sense.
func usage() string {
	o := defaults()
	fs := o.flagSet()
	var b strings.Builder
	b.WriteString(`Usage: llk23 [flags]
       llk23 experiments [flags]

Sweeps Livermore kernel 23 over a matrix that is cut into a grid of blocks. The experiments are
those of the paper that describes ordered read-write locks: llk23 experiments -h.

`)
	for _, line := range [][3]string{
		{"grid", "RxC", "4x4, or what divides the matrix of -init"}, {"block", "RxC", "500x500, or what the matrix of -init and -grid give"},
		{"iters", "N", ""}, {"sweeps", "N", ""}, {"kernel", "NAME", ""}, {"tasks", "FORM", ""}, {"nodes", "N", "1, or as many as the run or -ssh has"}, {"ssh", "HOST,HOST", "none"}, {"join", "N", "no"}, {"init", "FROM", ""}, {"verify", "", ""}, {"json", "", ""}, {"pin", "", ""}, {"why", "", ""},
		{"out", "FILE", "none"}, {"trace", "FILE", "none"}, {"plot", "FILE", "none"},
		{"metrics", "HOST:PORT", "none"}, {"metrics-linger", "TIME", ""},
	} {
		f := fs.Lookup(line[0])
		byDefault := line[2]
		if byDefault == "" {
			byDefault = f.DefValue
		}
		text := f.Usage
		switch v := f.Value.(type) {
		case count:
			text += fmt.Sprintf(", 1 to %d", v.most)
		case sizeFlag:
			text += fmt.Sprintf(", each 1 to %d", v.most)
		case choice:
			text += ", " + strings.Join(v.allowed, " or ")
		case timeFlag:
			text += fmt.Sprintf(", 0s to %v", v.most)
		}
		fmt.Fprintf(&b, "  -%-19s %s (default %s)\n", strings.TrimSpace(line[0]+" "+line[1]), text, byDefault)
	}
	b.WriteString(`
An element takes 48 bytes of memory, and 64 while it is verified. A run that needs more memory
than is free is refused.
Exit codes: 0 done, 1 failed or not the sequential sweep's result, 2 bad flags, 130 interrupted.
`)
	return b.String()
}

// count is a flag that is a number from 1 to most.
type count struct {
	value *int
	most  int
}

func (c count) String() string {
	if c.value == nil {
		return ""
	}
	return strconv.Itoa(*c.value)
}

func (c count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > c.most {
		return fmt.Errorf("want a whole number from 1 to %d", c.most)
	}
	*c.value = n
	return nil
}

// choice is a flag that is one of a few words.
type choice struct {
	value   *string
	allowed []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return fmt.Errorf("want %s", strings.Join(c.allowed, " or "))
	}
	*c.value = text
	return nil
}

// toggle is a flag that is true or false.
type toggle struct{ value *bool }

func (t toggle) IsBoolFlag() bool { return true }

func (t toggle) String() string { return strconv.FormatBool(t.value != nil && *t.value) }

func (t toggle) Set(text string) error {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("want true or false")
	}
	*t.value = v
	return nil
}
