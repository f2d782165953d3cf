package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// meter tells on a terminal, in place, or as a log line now and then, how far
// something is.
type meter struct {
	out     io.Writer
	inPlace bool
}

// newMeter writes to out.
func newMeter(out io.Writer) *meter { return &meter{out: out, inPlace: isTerminal(out)} }

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
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
			f := fraction()
			line := "llk23: " + what + " " + progress(f, now.Sub(begin))
			if !m.inPlace {
				fmt.Fprintln(m.out, line)
				continue
			}
			line = bar(f) + " " + line
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
		left := time.Duration(float64(after) * (1 - fraction) / fraction)
		text += fmt.Sprintf(", about %v left", left.Round(100*time.Millisecond))
	}
	return text
}

// bar draws a fraction.
func bar(fraction float64) string {
	const width = 30
	full := int(fraction * width)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
