package show

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
