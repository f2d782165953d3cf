package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/orwl/go-orwl/internal/terminal"
)

// progress is a line that says how far a long command is. A terminal shows it in place, five
// times a second. Elsewhere it is a line every ten seconds.
type progress struct {
	out   io.Writer
	place bool // in place
	every time.Duration
	last  time.Time
	shown bool
	calls uint
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, place: terminal.Is(out), every: 10 * time.Second, last: time.Now()}
	if p.place {
		p.every = 200 * time.Millisecond
	}
	return p
}

// show shows the line if its time has come. Most calls only count.
func (p *progress) show(line func() string) {
	if p.calls++; p.calls%64 == 0 {
		p.at(line)
	}
}

// at shows the line if its time has come, for callers that do not come often.
func (p *progress) at(line func() string) {
	if time.Since(p.last) < p.every {
		return
	}
	p.last = time.Now()
	if p.place {
		fmt.Fprintf(p.out, "\r\x1b[K%s", line())
		p.shown = true
	} else {
		fmt.Fprintln(p.out, line())
	}
}

// clear removes the line, so that other output begins at its place.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

// untilInterrupt is a context that ends with Ctrl-C. A second Ctrl-C ends the program at once.
func untilInterrupt() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
