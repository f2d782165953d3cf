package show

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/orwl/stencil/picture"
	"github.com/orwl/go-orwl/orwl/watch"
	"golang.org/x/term"
)

// live draws a view in a terminal again and again, while the run goes on. Each picture is a snapshot of the field, drawn
// over the one before.
type live struct {
	view    View
	out     io.Writer
	size    func() (cols, lines int)
	colours bool
	drawn   int // lines of the last picture
	failed  bool
}

// errNoTerminal is a live view without a terminal.
var errNoTerminal = errors.New("show: -live needs a terminal: run one node there, or use -plot FILE.gif")

// newLive is the live view on a terminal.
func newLive(v View, out *os.File) (*live, error) {
	if !terminal.Is(out) {
		return nil, errNoTerminal
	}
	size := func() (cols, lines int) {
		cols, lines, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return 80, 24
		}
		return cols, lines
	}
	return &live{view: v, out: out, size: size, colours: os.Getenv("NO_COLOR") == ""}, nil
}

const liveTick = 100 * time.Millisecond

// watch draws until stop is called, and then what the run has left.
func (l *live) watch(ctx context.Context) (stop func()) {
	ticker := time.NewTicker(liveTick)
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		l.follow(ctx, ticker.C, quit)
	}()
	return func() {
		ticker.Stop()
		close(quit)
		<-ended
	}
}

func (l *live) follow(ctx context.Context, ticks <-chan time.Time, quit <-chan struct{}) {
	for {
		select {
		case <-ticks:
			l.draw(ctx)
		case <-quit:
			l.draw(ctx)
			return
		}
	}
}

// draw draws the field as it is now. Before the nodes have begun there is nothing to draw.
func (l *live) draw(ctx context.Context) {
	if l.failed {
		return
	}
	row, first, last, err := l.view.source.snapshot(ctx)
	switch {
	case errors.Is(err, inner.ErrEarly), ctx.Err() != nil:
		return
	case err != nil:
		l.failed = true
		fmt.Fprintln(l.out, "show: -live:", err)
		return
	}
	p := l.view.panel(row, nil)
	cols, lines := l.size()
	sweep := fmt.Sprintf("sweep %d", first)
	if last > first {
		sweep += fmt.Sprintf(" to %d", last)
	}
	least, most := p.Least, p.Most
	if least == 0 && most == 0 {
		least, most = p.Span()
	}
	title := fmt.Sprintf("%s, %.3g to %.3g, %s", p.Title, least, most, sweep)
	text := fmt.Sprintf("%-*.*s\n", cols-1, cols-1, title) + p.Text(cols-1, max(1, lines-3), l.colours)
	if l.drawn > 0 {
		text = fmt.Sprintf("\x1b[%dA\r", l.drawn) + text
	}
	l.drawn = strings.Count(text, "\n")
	_, _ = io.WriteString(l.out, text) // a terminal that is gone shows nothing
}

// watchFlag is -watch, which may have a value. It is ORWL_WATCH for this process.
type watchFlag struct{}

func (watchFlag) IsBoolFlag() bool { return true }
func (watchFlag) String() string   { return "" }

func (watchFlag) Set(at string) error {
	if at == "true" {
		at = "1"
	}
	return os.Setenv(watch.Variable, at)
}

// watched reports whether a page shows this run.
func watched() bool {
	at := os.Getenv(watch.Variable)
	return at != "" && at != "0"
}

// watchedLong is the longer side of the picture in pixels.
const watchedLong = 300

// paint paints the field for the page.
func (v View) paint(ctx context.Context) (watch.Picture, error) {
	row, first, last, err := v.source.snapshot(ctx)
	if err != nil {
		return watch.Picture{}, err
	}
	p := v.panel(row, nil)
	p.Long = watchedLong
	w := watch.Picture{Title: fmt.Sprintf("%s after %d sweeps", p.Title, first), Done: int64(first), Total: int64(v.source.grid().Last())}
	if last > first {
		w.Title = fmt.Sprintf("%s after %d to %d sweeps", p.Title, first, last)
	}
	var to bytes.Buffer
	err = picture.Picture{p}.PNG(&to)
	w.PNG = to.Bytes()
	return w, err
}

const (
	mostFrames = 64  // of a film. It has half as many at least, if the run has so many exchanges
	filmLong   = 320 // pixels of the longer side that a film keeps; one that stands alone is drawn twice as large
	frameShown = time.Second / 15
	lastShown  = time.Second
)

// Film is a film of a field.
type Film struct {
	view   View
	frames []shot
	every  int // sweeps from one frame to the next; 0: there is one frame
}

// shot is the field after so many sweeps, as coarsely as it will be drawn.
type shot struct {
	Sweeps     int
	Rows, Cols int
	Cells      []float64
}

// NewFilm films a field while it runs. Every node of a run calls it, after [stencil.Grid.Sweep] and
// before the run.
func NewFilm(v View) *Film {
	f := &Film{view: v}
	v.source.frames(f.shoot)
	return f
}

// shoot takes a frame. With too many, every second one goes: which ones depends on their sweeps, so that all
// nodes keep the same.
func (f *Film) shoot(sweeps int, last bool, row func(from, to int) []float64, here []bool) (rarer bool) {
	begin := sweeps
	if len(f.frames) > 0 {
		begin = f.frames[0].Sweeps
	}
	if len(f.frames) == 1 {
		f.every = sweeps - begin
	}
	if f.every > 0 && (sweeps-begin)%f.every != 0 && !last {
		return false // it had begun when there were to be fewer
	}
	p := f.view.panel(row, here)
	p.Long = filmLong
	p.Keep()
	s := shot{Sweeps: sweeps, Rows: p.Rows, Cols: p.Cols}
	for row := range p.Values {
		s.Cells = append(s.Cells, row...)
	}
	f.frames = append(f.frames, s)
	if last || len(f.frames) <= mostFrames {
		return false
	}
	f.every *= 2
	f.frames = slices.DeleteFunc(f.frames, func(s shot) bool { return (s.Sweeps-begin)%f.every != 0 })
	return true
}

// Gather puts together what all nodes have filmed, on node 0. Every node calls it after the run. If this life of the run has begun
// behind the last sweep, the film is the field as it is.
func (f *Film) Gather(ctx context.Context) error {
	rt := f.view.source.grid().Runtime()
	numbers, err := rt.Gather(ctx, "frames", binary.AppendUvarint(nil, uint64(len(f.frames))))
	if err != nil {
		return err
	}
	most := uint64(0)
	for _, number := range numbers {
		n, _ := binary.Uvarint(number)
		most = max(most, n)
	}
	films := make([][]shot, rt.Nodes())
	films[0] = f.frames
	for i := range int(most) {
		var b bytes.Buffer
		if i < len(f.frames) && rt.Node() > 0 {
			if err := gob.NewEncoder(&b).Encode(f.frames[i]); err != nil {
				return err
			}
		}
		all, err := rt.Gather(ctx, "frame", b.Bytes())
		if err != nil {
			return err
		}
		for node, text := range all {
			if rt.Node() > 0 || len(text) == 0 {
				continue
			}
			var s shot
			if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
				return fmt.Errorf("show: the film of node %d: %w", node, err)
			}
			films[node] = append(films[node], s)
		}
	}
	if rt.Node() > 0 {
		return nil
	}
	f.frames = nil
	for _, one := range films {
		f.add(one)
	}
	if len(f.frames) > 0 {
		return nil
	}
	row, err := f.view.source.values(ctx)
	if err == nil {
		f.shoot(f.view.source.grid().Last(), true, row, nil)
	}
	return err
}

// add adds the film of a node. A cell of a picture is the mean of cells of the grid. Each node has added its own ones, see [View.panel].
// So the sum is the mean. A frame that not all have is dropped.
func (f *Film) add(other []shot) {
	switch {
	case len(other) == 0:
		return
	case len(f.frames) == 0:
		f.frames = other
		return
	}
	f.frames = slices.DeleteFunc(f.frames, func(s shot) bool {
		i := slices.IndexFunc(other, func(o shot) bool { return o.Sweeps == s.Sweeps })
		if i < 0 {
			return true
		}
		for n, v := range other[i].Cells {
			s.Cells[n] += v
		}
		return false
	})
}

// span is the least and the greatest value of all frames.
func (f *Film) span() (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, s := range f.frames {
		p := f.view.shot(s, filmLong)
		l, m := p.Span()
		least, most = min(least, l), max(most, m)
	}
	return least, most
}

// shot draws a frame with a longer side of so many pixels.
func (v View) shot(s shot, long int) picture.Panel {
	p := v.panel(nil, nil)
	p.Rows, p.Cols, p.Values, p.Long = s.Rows, s.Cols, picture.Cells(s.Cells, s.Cols), long
	p.Title = fmt.Sprintf("%s after %d sweeps", p.Title, s.Sweeps)
	return p
}

// WriteFilms writes films of one grid side by side, as a GIF. Node 0 calls it after Gather.
func WriteFilms(to io.Writer, films ...*Film) error {
	for _, f := range films {
		if least, most := f.span(); f.view.Least == 0 && f.view.Most == 0 {
			f.view.Least, f.view.Most = least, most
		}
	}
	var m picture.Movie
	first, long := films[0].frames, filmLong
	if len(films) == 1 {
		long *= 2
	}
	for i, s := range first {
		var p picture.Picture
		for _, f := range films {
			n := slices.IndexFunc(f.frames, func(o shot) bool { return o.Sweeps == s.Sweeps })
			if n >= 0 { // each may have a frame that the others have dropped
				p = append(p, f.view.shot(f.frames[n], long))
			}
		}
		if len(p) < len(films) {
			continue
		}
		shown := frameShown
		if i == len(first)-1 {
			shown = lastShown
		}
		m.Add(p, shown)
	}
	return m.GIF(to)
}
