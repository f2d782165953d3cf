package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/terminal"
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
