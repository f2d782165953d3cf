package main

import (
	"strings"
	"testing"
	"time"
)

// followed is what a meter writes while it follows something, a tick for each
// fraction.
func followed(inPlace bool, fractions ...float64) string {
	var out strings.Builder
	m := &meter{out: &out, inPlace: inPlace}
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
	lines := strings.Split(followed(false, 0, 0.5, 1), "\n")
	for i, want := range []string{"llk23: sweeping   0 %", "llk23: sweeping  50 %, about ", "llk23: sweeping 100 %, about 0s left", ""} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
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
