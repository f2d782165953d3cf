package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/command"
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
