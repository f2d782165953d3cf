package show

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/files"
	"github.com/orwl/go-orwl/orwl/stencil/internal/inside"
	"github.com/orwl/go-orwl/orwl/stencil/picture"
	"github.com/orwl/go-orwl/orwl/watch"
)

// Look is what to show of a run.
type Look struct {
	// Plot is a file for a picture, FILE.png, or for a film, FILE.gif. Empty: there is none.
	Plot string
	// Progress shows how far the run is, on standard error.
	Progress bool
	// Live draws the first field in the terminal while the run goes on.
	Live bool
	// Data is a file for the fields as other programs read them: see package files. Empty: there is none. Every is how many
	// sweeps are between two steps of a series.
	Data  string
	Every int

	out *os.File // for Live
}

// Flags defines -plot, -progress, -live, -watch, -data and -every.
func Flags(fs *flag.FlagSet) *Look {
	l := &Look{out: os.Stdout}
	fs.Func("plot", "draw the result in `FILE`.png, or the whole run as a film in FILE.gif", func(name string) error {
		l.Plot = name
		return CheckPlot(name)
	})
	fs.Func("data", "write the fields to `FILE`.npy, .zarr or .pvti, or the whole run to FILE.pvd", func(name string) error {
		l.Data = name
		return files.CheckName(name)
	})
	fs.IntVar(&l.Every, "every", 0, "sweeps between two steps in FILE.pvd; 0: those between two exchanges")
	fs.BoolVar(&l.Progress, "progress", false, "show how far the run is")
	fs.BoolVar(&l.Live, "live", false, "draw the field in this terminal while it runs")
	fs.Var(watchFlag{}, "watch", "serve a live page of the run, at 127.0.0.1:9464 or at =`HOST:PORT`, node i at PORT+i")
	return l
}

// CheckPlot checks that a file is a picture or a film, by its name.
func CheckPlot(name string) error {
	if s := strings.TrimSuffix(strings.TrimSuffix(name, ".png"), ".gif"); s == name || s == "" {
		return errors.New("want the name of a .png or a .gif file")
	}
	return nil
}

// IsFilm says that a plot of this name is a film.
func IsFilm(name string) bool { return strings.HasSuffix(name, ".gif") }

// Run runs the runtime of the fields, which are of one grid, and shows what the look says. Every node of a
// run calls it, after [stencil.Grid.Sweep].
func (l *Look) Run(ctx context.Context, views ...View) error {
	if len(views) == 0 {
		return errors.New("show: no field to show")
	}
	g := views[0].source.grid()
	rt := g.Runtime()
	if l.Plot != "" {
		if err := CheckPlot(l.Plot); err != nil {
			return fmt.Errorf("show: plot %s: %w", l.Plot, err)
		}
	}
	var file *outfile.File
	if l.Plot != "" && rt.Node() == 0 {
		var err error
		if file, err = outfile.Create(l.Plot); err != nil {
			return fmt.Errorf("show: plot: %w", err)
		}
		defer file.Drop()
	}
	var films []*Film
	if IsFilm(l.Plot) {
		for _, v := range views {
			films = append(films, NewFilm(v))
		}
	}
	draws := func(context.Context) (stop func()) { return func() {} }
	if l.Live {
		if rt.Node() == 0 {
			live, err := newLive(views[0], l.out)
			if err != nil {
				return err
			}
			draws = live.watch
		}
		g.AllowSnapshots()
	}
	if watched() {
		g.AllowSnapshots()
		defer watch.Show(rt, views[0].paint)()
	}
	out, err := l.create(views)
	if err != nil {
		return err
	}
	meter := Silent()
	if l.Progress && !l.Live && rt.Node() == 0 {
		meter = NewMeter(filepath.Base(os.Args[0]), os.Stderr, terminal.Log(os.Stderr, slog.LevelInfo))
	}
	_, total := g.Progress()
	stop := meter.Watch("sweeping", total, func() int64 {
		done, _ := g.Progress()
		return done
	})
	end := draws(ctx)
	err = rt.Run(ctx)
	end()
	stop()
	if out != nil {
		err = out.Finish(ctx, err)
	}
	for _, f := range films {
		if err == nil {
			err = f.Gather(ctx)
		}
	}
	if err != nil || file == nil {
		return err
	}
	if films != nil {
		return file.Finish(func(to io.Writer) error { return WriteFilms(to, films...) })
	}
	var p picture.Picture
	for _, v := range views {
		panel, err := v.Panel(ctx)
		if err != nil {
			return err
		}
		p = append(p, panel)
	}
	return file.Finish(p.PNG)
}

// create prepares the files of Data. It returns nil if there are none.
func (l *Look) create(views []View) (*files.Out, error) {
	if l.Data == "" {
		return nil, nil
	}
	var fields []files.Field
	for _, v := range views {
		fields = append(fields, v.source.field())
	}
	return files.Create(l.Data, l.Every, fields...)
}

// View is how a field is drawn.
type View struct {
	// Title is the field's name by default.
	Title string
	// Least and Most are the ends of the legend: see Between. If both are zero, the values decide: in
	// a film, the values of all frames.
	Least, Most float64
	// Palette and Label are the panel's.
	Palette picture.Palette
	Label   func(v float64) string

	source source
}

// Between sets the ends of the legend. Values beyond them have the colours of the ends.
func (v View) Between(least, most float64) View {
	v.Least, v.Most = least, most
	return v
}

// source is a field of any type.
type source interface {
	grid() inside.Grid
	field() files.Field
	name() string
	frames(body func(sweeps int, last bool, row func(from, to int) []float64, here []bool) (rarer bool))
	values(ctx context.Context) (row func(from, to int) []float64, err error)
	snapshot(ctx context.Context) (row func(from, to int) []float64, first, last int, err error)
}

// Field draws a field of numbers.
func Field[T picture.Number](u *stencil.Field[T]) View {
	return By(u, func(v T) float64 { return float64(v) })
}

// By draws a field of anything else, by a number for each cell.
func By[T any](u *stencil.Field[T], number func(T) float64) View {
	return View{source: field[T]{u, inside.Of(u).(inside.Field[T]), number}}
}

type field[T any] struct {
	of     *stencil.Field[T]
	u      inside.Field[T]
	number func(T) float64
}

func (f field[T]) grid() inside.Grid  { return f.u.Grid() }
func (f field[T]) field() files.Field { return f.of }
func (f field[T]) name() string       { return f.u.Name() }

// row makes numbers of some cells.
func (f field[T]) row(cells []T) func(from, to int) []float64 {
	var numbers []float64
	return func(from, to int) []float64 {
		numbers = numbers[:0]
		for _, c := range cells[from:to] {
			numbers = append(numbers, f.number(c))
		}
		return numbers
	}
}

func (f field[T]) frames(body func(sweeps int, last bool, row func(from, to int) []float64, here []bool) bool) {
	f.u.Frames(1, func(one inside.Frame[T]) bool { return body(one.Sweeps, one.Last, f.row(one.Cells), one.Here) })
}

func (f field[T]) values(ctx context.Context) (func(from, to int) []float64, error) {
	cells, err := f.u.Values(ctx)
	return f.row(cells), err
}

func (f field[T]) snapshot(ctx context.Context) (row func(from, to int) []float64, first, last int, err error) {
	s, err := f.u.Snapshot(ctx)
	return f.row(s.Cells), s.First, s.Last, err
}

// Panel draws the field as it is after the run.
func (v View) Panel(ctx context.Context) (picture.Panel, error) {
	row, err := v.source.values(ctx)
	return v.panel(row, nil), err
}

// panel draws what row gives: the cells of the grid, in its order, from one to another. Cells that are not here
// add nothing to the picture. All are if here is nil.
func (v View) panel(row func(from, to int) []float64, here []bool) picture.Panel {
	size := v.source.grid().Size()
	p := picture.Panel{Title: v.Title, Least: v.Least, Most: v.Most, Palette: v.Palette, Label: v.Label, Rows: 1}
	if p.Title == "" {
		p.Title = v.source.name()
	}
	p.Cols = size[len(size)-1]
	first := 0
	switch len(size) {
	case 1:
		p.Curve = true
	case 2:
		p.Rows = size[0]
	case 3:
		p.Rows = size[1]
		first = size[0] / 2 * size[1] * size[2]
	}
	p.Values = func(yield func([]float64) bool) {
		for i := range p.Rows {
			at := first + i*p.Cols
			cells := row(at, at+p.Cols)
			for n, c := range cells {
				if here != nil && !here[at+n] {
					cells[n] = 0
				} else if v.Least < v.Most && !math.IsNaN(c) {
					cells[n] = min(max(c, v.Least), v.Most)
				}
			}
			if !yield(cells) {
				return
			}
		}
	}
	return p
}

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
