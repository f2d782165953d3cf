package show

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/orwl/launch"
)

// followed is what a meter writes, or logs, while it follows something of 1000, two seconds and a
// tick for each amount that is done.
func followed(m *Meter, amounts ...int64) string {
	var out strings.Builder
	m.out, m.log = &out, terminal.Log(&out, slog.LevelInfo).With("node", 0)
	ticks, quit, ended := make(chan time.Time), make(chan struct{}), make(chan struct{})
	at := 0
	go func() {
		defer close(ended)
		m.follow("sweeping", 1000, func() int64 { at++; return amounts[at-1] }, ticks, quit)
	}()
	for range amounts {
		ticks <- time.Now().Add(2 * logsAfter)
	}
	close(quit)
	<-ended
	return out.String()
}

// A log has a line for each tenth that is passed, and for the beginning.
func TestMeterLogs(t *testing.T) {
	lines := json.NewDecoder(strings.NewReader(followed(new(Meter), 0, 50, 99, 101, 199, 520, 599, 1000)))
	for _, done := range []float64{0, 0.101, 0.52, 1} {
		var record struct {
			Msg           string
			Node          *int
			Done, Seconds float64
			Left          *float64
		}
		if err := lines.Decode(&record); err != nil {
			t.Fatal(err)
		}
		if record.Msg != "sweeping" || record.Node == nil || record.Done != done || record.Left == nil || done == 1 && *record.Left != 0 {
			t.Errorf("the record is %+v, want %v done", record, done)
		}
	}
	if lines.More() {
		t.Error("there is more than a record for each tenth")
	}
}

// Work that is over soon leaves no line in a log.
func TestMeterIsSilentAtFirst(t *testing.T) {
	var out strings.Builder
	m := NewMeter("heat", &out, terminal.Log(&out, slog.LevelInfo))
	m.show("sweeping", 0.9, logsAfter-1)
	if out.Len() > 0 {
		t.Errorf("the log has %q", out.String())
	}
}

// A person who sees whole lines gets one for each tenth, and no record of a log.
func TestMeterSeen(t *testing.T) {
	text := followed(&Meter{name: "heat", seen: true}, 0, 50, 520)
	if lines := strings.Split(text, "\n"); len(lines) != 3 || lines[0] != "heat: sweeping   0 %" || !strings.HasPrefix(lines[1], "heat: sweeping  52 %, about ") {
		t.Errorf("the lines are %q", lines)
	}
}

// A launcher that shows its nodes' lines over the bar of a terminal has a terminal.
func TestOverIsTerminal(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	t.Setenv("TERM", "xterm")
	if m := NewMeter("heat", tty, nil); !terminal.Is(m.Over(tty)) || terminal.Is(m.Over(new(strings.Builder))) {
		t.Error("what is over a terminal is taken for another thing")
	}
}

func TestMeterInPlace(t *testing.T) {
	text := followed(&Meter{inPlace: true}, 0, 500)
	if strings.Contains(text, "\n") || !strings.Contains(text, "[###############...............] ") {
		t.Errorf("the bar is %q", text)
	}
	if parts := strings.Split(text, "\r"); strings.TrimSpace(parts[len(parts)-2]) != "" || parts[len(parts)-1] != "" {
		t.Errorf("the line is not cleaned up: %q", text)
	}
	if text := followed(&Meter{inPlace: true}); text != "" {
		t.Errorf("a meter without ticks writes %q", text)
	}
}

// A node tells its launcher, and writes nothing.
func TestMeterTells(t *testing.T) {
	var told []launch.Progress
	m := &Meter{inPlace: true, Tell: func(p launch.Progress) error { told = append(told, p); return nil }}
	if text := followed(m, 100, 900); text != "" {
		t.Errorf("the node writes %q", text)
	}
	if want := []launch.Progress{{What: "sweeping", Done: 100, Total: 1000}, {What: "sweeping", Done: 900, Total: 1000}}; !slices.Equal(told, want) {
		t.Errorf("the node tells %v, want %v", told, want)
	}
}

// The launcher shows what the nodes have done together, in one line that other lines replace.
func TestThrong(t *testing.T) {
	var out strings.Builder
	all := Crew{Meter: &Meter{out: &out, inPlace: true}}
	for _, s := range []struct {
		node int
		launch.Progress
	}{
		{0, launch.Progress{What: "sweeping", Done: 2, Total: 10}},
		{1, launch.Progress{What: "sweeping", Done: 8, Total: 10}},
		{0, launch.Progress{What: "sweeping", Done: 4, Total: 10}},
		{1, launch.Progress{What: "sweeping, life 2", Done: 1, Total: 20}}, // node 0 is lost
		{0, launch.Progress{What: "sweeping", Done: 5, Total: 10}},         // is late
		{2, launch.Progress{What: "sweeping, life 2", Done: 3, Total: 20}},
		{1, launch.Progress{What: "sweeping, life 2", Done: 9, Total: 20}},
		{1, launch.Progress{What: "verifying", Done: 1, Total: 4}},
		{2, launch.Progress{What: "sweeping, life 2", Done: 9, Total: 20}}, // is late
	} {
		all.Hear(s.node, s.Progress)
	}
	for i, line := range strings.Split(out.String(), "\r")[1:] {
		if want := []string{"sweeping  20 %", "sweeping  60 %", "life 2   5 %", "life 2  30 %", "verifying  25 %"}[i]; !strings.Contains(line, want) {
			t.Errorf("line %d is %q, want %q", i, line, want)
		}
	}
	out.Reset()
	fmt.Fprint(all.Over(&out), "a line\n")
	if text := out.String(); !strings.HasSuffix(text, " \ra line\n") || !strings.HasPrefix(text, "\r ") {
		t.Errorf("a line over the bar is %q", text)
	}
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		fraction float64
		after    time.Duration
		want     string
	}{
		{0, time.Second, "  0 %"},
		{0.25, time.Second, " 25 %, about 3s left"},
		{0.999, 10 * time.Second, "100 %, about 0s left"},
	} {
		if got := progress(c.fraction, c.after); got != c.want {
			t.Errorf("progress(%v, %v) is %q, want %q", c.fraction, c.after, got, c.want)
		}
	}
}
