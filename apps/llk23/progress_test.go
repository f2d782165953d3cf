package main

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/terminal"
)

// followed is what a meter writes, or logs, while it follows something, a tick for each
// fraction.
func followed(inPlace bool, fractions ...float64) string {
	var out strings.Builder
	m := &meter{out: &out, log: terminal.Log(&out, slog.LevelInfo).With("node", 0), inPlace: inPlace}
	ticks, quit, ended := make(chan time.Time), make(chan struct{}), make(chan struct{})
	at := 0
	go func() {
		defer close(ended)
		m.follow("sweeping", ticks, quit, func() float64 { at++; return fractions[at-1] })
	}()
	for range fractions {
		ticks <- time.Now()
	}
	close(quit)
	<-ended
	return out.String()
}

func TestMeterLogs(t *testing.T) {
	lines := json.NewDecoder(strings.NewReader(followed(false, 0, 0.5, 1)))
	for _, done := range []float64{0, 0.5, 1} {
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
		t.Error("there is more than a record for each tick")
	}
}

func TestMeterInPlace(t *testing.T) {
	text := followed(true, 0, 0.5)
	if strings.Contains(text, "\n") || !strings.Contains(text, "[###############...............] ") {
		t.Errorf("the bar is %q", text)
	}
	if parts := strings.Split(text, "\r"); strings.TrimSpace(parts[len(parts)-2]) != "" || parts[len(parts)-1] != "" {
		t.Errorf("the line is not cleaned up: %q", text)
	}
	if text := followed(true); text != "" {
		t.Errorf("a meter without ticks writes %q", text)
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
