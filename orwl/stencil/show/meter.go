package show

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/orwl/launch"
)

// Meter shows how far something is: on a terminal in place, and elsewhere by a line at
// every tenth, if it takes long. The line is for people if the launcher of the node has a terminal, and
// otherwise one of a log. A node that the program has started tells its launcher instead,
// which shows all nodes as one: see [Crew].
type Meter struct {
	// Tell tells the launcher; nil if there is none that wants to know.
	Tell func(launch.Progress) error

	name    string
	out     io.Writer
	log     *slog.Logger
	inPlace bool
	seen    bool // a person sees the lines

	mu    sync.Mutex
	width int    // of the line that stands on the terminal
	what  string // the work that was logged last, and how many tenths of it
	tenth int
}

// NewMeter is a program's meter, which writes to out if a person sees that, and otherwise to the log.
func NewMeter(name string, out io.Writer, log *slog.Logger) *Meter {
	return &Meter{name: name, out: out, log: log, inPlace: terminal.Is(out), seen: terminal.IsSeen(out)}
}

// Silent shows nothing.
func Silent() *Meter { return NewMeter("", io.Discard, slog.New(slog.DiscardHandler)) }

const (
	meterTick = 100 * time.Millisecond
	logsAfter = 2 * time.Second
)

// Watch tells how much of total is done until stop is called.
func (m *Meter) Watch(what string, total int64, done func() int64) (stop func()) {
	ticker := time.NewTicker(meterTick)
	quit := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.follow(what, total, done, ticker.C, quit)
	}()
	return func() {
		ticker.Stop()
		close(quit)
		<-ended
	}
}

// follow tells how far it is at every tick, and leaves a clean line behind.
func (m *Meter) follow(what string, total int64, done func() int64, ticks <-chan time.Time, quit <-chan struct{}) {
	begin := time.Now()
	for {
		select {
		case now := <-ticks:
			if m.Tell != nil {
				// A launcher that is gone ends this process.
				_ = m.Tell(launch.Progress{What: what, Done: done(), Total: total})
				continue
			}
			m.show(what, float64(done())/float64(total), now.Sub(begin))
		case <-quit:
			m.Clear()
			return
		}
	}
}

// show shows how much is done after a time.
func (m *Meter) show(what string, fraction float64, after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inPlace {
		line := bar(fraction) + " " + m.name + ": " + what + " " + progress(fraction, after)
		fmt.Fprintf(m.out, "\r%-*s", m.width, line)
		m.width = len(line)
		return
	}
	tenth := int(10 * fraction)
	if after < logsAfter || what == m.what && tenth <= m.tenth {
		return
	}
	m.what, m.tenth = what, tenth
	if m.seen {
		fmt.Fprintf(m.out, "%s: %s %s\n", m.name, what, progress(fraction, after))
		return
	}
	m.log.Info(what, "done", math.Round(1000*fraction)/1000, "seconds", after.Round(meterTick).Seconds(), "left", left(fraction, after).Seconds())
}

// Clear takes the line away that stands on the terminal.
func (m *Meter) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.width > 0 {
		fmt.Fprintf(m.out, "\r%*s\r", m.width, "")
		m.width = 0
	}
}

// Over is a writer to the same terminal: it writes where the line stands.
func (m *Meter) Over(to io.Writer) io.Writer { return clearing{m, to} }

type clearing struct {
	*Meter
	to io.Writer
}

// Under is the terminal, so that nodes are told that there is one.
func (c clearing) Under() io.Writer { return c.to }

func (c clearing) Write(p []byte) (int, error) {
	c.Clear()
	return c.to.Write(p)
}

// Crew is how far the nodes of a run are, all together, as the process knows that started them.
type Crew struct {
	*Meter

	what  string // the nodes do this
	first int    // the node that has said so first
	begin time.Time
	said  map[int]launch.Progress // by node
	over  map[string]bool         // the things that they have done before
}

// Hear takes a node's report, for [launch.Run]. A node that does something new begins it for all. At each later report of that node, Hear
// shows the progress of all nodes.
func (t *Crew) Hear(node int, p launch.Progress) {
	if t.over[p.What] {
		return // it is late
	}
	if p.What != t.what {
		if t.over == nil {
			t.over = make(map[string]bool)
		}
		t.over[t.what] = true
		t.what, t.first, t.begin, t.said = p.What, node, time.Now(), make(map[int]launch.Progress)
	}
	t.said[node] = p
	if node == t.first {
		var all launch.Progress
		for _, one := range t.said {
			all.Done, all.Total = all.Done+one.Done, all.Total+one.Total
		}
		t.show(p.What, float64(all.Done)/float64(all.Total), time.Since(t.begin))
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
