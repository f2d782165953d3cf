package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/terminal"
)

// meter tells on a terminal, in place, or as a record of a log now and then, how far
// something is.
type meter struct {
	out     io.Writer
	log     *slog.Logger
	inPlace bool
}

// newMeter writes to out, if that is a terminal, and otherwise to the log.
func newMeter(out io.Writer, log *slog.Logger) *meter {
	return &meter{out: out, log: log, inPlace: terminal.Is(out)}
}

// watch tells how much of total is done until stop is called.
func (m *meter) watch(what string, total int64, done func() int64) (stop func()) {
	interval := 2 * time.Second
	if m.inPlace {
		interval = 100 * time.Millisecond
	}
	ticker := time.NewTicker(interval)
	quit := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.follow(what, ticker.C, quit, func() float64 { return float64(done()) / float64(total) })
	}()
	return func() {
		ticker.Stop()
		close(quit)
		<-ended
	}
}

// follow writes how far it is at every tick, and leaves a clean line behind.
func (m *meter) follow(what string, ticks <-chan time.Time, quit <-chan struct{}, fraction func() float64) {
	begin, width := time.Now(), 0
	for {
		select {
		case now := <-ticks:
			f, after := fraction(), now.Sub(begin)
			if !m.inPlace {
				m.log.Info(what, "done", math.Round(1000*f)/1000, "seconds", after.Seconds(), "left", left(f, after).Seconds())
				continue
			}
			line := bar(f) + " llk23: " + what + " " + progress(f, after)
			fmt.Fprintf(m.out, "\r%-*s", width, line)
			width = len(line)
		case <-quit:
			if width > 0 {
				fmt.Fprintf(m.out, "\r%*s\r", width, "")
			}
			return
		}
	}
}

// progress says how much is done after a time, and for how long it will go on.
func progress(fraction float64, after time.Duration) string {
	text := fmt.Sprintf("%3.0f %%", 100*fraction)
	if fraction > 0 {
		text += fmt.Sprintf(", about %v left", left(fraction, after))
	}
	return text
}

// left is how long it will go on; 0 if unknown.
func left(fraction float64, after time.Duration) time.Duration {
	if fraction <= 0 {
		return 0
	}
	return time.Duration(float64(after) * (1 - fraction) / fraction).Round(100 * time.Millisecond)
}

// bar draws a fraction.
func bar(fraction float64) string {
	const width = 30
	full := int(fraction * width)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
