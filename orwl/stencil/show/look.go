package show

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/orwl/stencil/files"
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
