package show

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// Main is the main function of a program that sweeps over a grid. Each node calls the program, and again if the run goes on
// in another life: see [orwl.Run]. The program declares a grid and its fields, and calls [Run.Sweep].
//
// The flags are those of the program and
//
//	-nodes      start so many nodes on this machine
//	-sweeps     how often to sweep, instead of as often as the program says
//	-verify     compare with a sequential sweep, bit for bit
//	-survive    a folder with which the run goes on when all processes are gone
//	-plot, -progress, -live, -watch, -data, -every: see the package
//
// If the program fails, Main prints its error and exits with 1. Several nodes need an import of orwl/nodes.
func Main(program func(ctx context.Context, r *Run) error) {
	fs := flag.CommandLine
	f := newRunFlags(fs)
	flag.Parse()
	if ended, code := launch.Self(f.nodes); ended {
		os.Exit(code)
	}
	if err := f.run(context.Background(), orwl.Options{}, program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Run is a run of a program by [Main].
type Run struct {
	f       *runFlags
	runtime *orwl.Runtime
	grid    *stencil.Grid
}

// runFlags are what the flags say.
type runFlags struct {
	look          *Look
	nodes, sweeps int
	verify        bool
	survive       string
}

func newRunFlags(fs *flag.FlagSet) *runFlags {
	f := &runFlags{look: Flags(fs)}
	fs.IntVar(&f.nodes, "nodes", 1, "start `N` nodes on this machine")
	fs.IntVar(&f.sweeps, "sweeps", -1, "sweep `N` times at most, instead of as often as the program says")
	fs.BoolVar(&f.verify, "verify", false, "compare with a sequential sweep, bit for bit")
	fs.StringVar(&f.survive, "survive", "", "keep the run in `FOLDER`, and go on with what is there")
	return f
}

func (f *runFlags) run(ctx context.Context, o orwl.Options, program func(ctx context.Context, r *Run) error) error {
	if f.survive != "" {
		o.Survive.Folder = f.survive
	}
	return orwl.Run(ctx, o, func(ctx context.Context, rt *orwl.Runtime) error {
		return program(ctx, &Run{f: f, runtime: rt})
	})
}

// Prints reports whether this node prints what comes of the run. One node does.
func (r *Run) Prints() bool { return r.runtime.Node() == 0 }

// Grid declares the grid.
func (r *Run) Grid(o stencil.Options) *stencil.Grid {
	r.grid = stencil.New(r.runtime, o)
	return r.grid
}

// errNoGrid is a run without a grid.
var errNoGrid = errors.New("show: the program sweeps before it has declared a grid: call Run.Grid")

// Sweep sweeps so often over the grid, and shows fields: see [stencil.Grid.Sweep]. The kernel is nil for a grid with stages.
// Node 0 prints how many sweeps there were, and how long they took.
func (r *Run) Sweep(ctx context.Context, sweeps int, kernel func(b *stencil.Block), views ...View) error {
	if r.grid == nil {
		return errNoGrid
	}
	if r.f.sweeps >= 0 {
		sweeps = r.f.sweeps
	}
	var kernels []func(b *stencil.Block)
	if kernel != nil {
		kernels = append(kernels, kernel)
	}
	if err := r.grid.Sweep(sweeps, kernels...); err != nil {
		return err
	}
	begin := time.Now()
	if err := r.f.look.Run(ctx, views...); err != nil {
		return err
	}
	if r.Prints() {
		fmt.Printf("%v: %d sweeps, %.2f s\n", r.grid, r.grid.Sweeps(), time.Since(begin).Seconds())
	}
	if !r.f.verify {
		return nil
	}
	err := r.grid.Verify(ctx)
	if err == nil && r.Prints() {
		fmt.Println("a sequential sweep has the same bits")
	}
	return err
}
