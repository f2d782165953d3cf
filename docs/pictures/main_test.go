package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/trace"
)

// A block of two pieces has done a sweep when its second piece has.
func TestLook(t *testing.T) {
	const ms = time.Millisecond
	work := func(from, to int) trace.Slice {
		return trace.Slice{Name: trace.Compute, From: time.Duration(from) * ms, To: time.Duration(to) * ms}
	}
	recorded := &trace.Trace{To: 100 * ms, Tracks: []trace.Track{
		{Task: "block 0,0, piece 1 of 2", Slices: []trace.Slice{work(0, 5), work(10, 20), work(40, 70)}},
		{Task: "block 0,0, piece 2 of 2", Slices: []trace.Slice{work(5, 8), work(20, 30)}},
		{Task: "block 0,1", Slices: []trace.Slice{work(8, 9), {Name: "read", From: 50 * ms, To: 90 * ms}}},
		{Task: "the matrix"},
	}}
	for at, want := range map[time.Duration]map[position]progress{
		0 * ms:  {{0, 0}: {0, true}, {0, 1}: {0, false}},
		8 * ms:  {{0, 0}: {1, false}, {0, 1}: {0, true}},
		20 * ms: {{0, 0}: {1, true}, {0, 1}: {1, false}},
		60 * ms: {{0, 0}: {2, true}, {0, 1}: {1, false}},
	} {
		got := look(recorded, at)
		if len(got) != len(want) {
			t.Errorf("%v", got)
		}
		for p, w := range want {
			if got[p] != w {
				t.Errorf("after %v block %v is %+v, want %+v", at, p, got[p], w)
			}
		}
	}
	var svg strings.Builder
	if err := draw(&svg, recorded); err != nil || strings.Count(svg.String(), "<text") != len(moments)*3 || !strings.Contains(svg.String(), "#d40") {
		t.Errorf("%v\n%s", err, svg.String())
	}
	if err := draw(&svg, &trace.Trace{}); !errors.Is(err, errNoBlocks) {
		t.Errorf("no blocks: %v", err)
	}
}

// Each line of a sweep and a number is a point, and other lines are none.
func TestPlot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "solver")
	if err := os.WriteFile(file, []byte("0 1\n1 1e-2\nthe end\n2 1e-4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := readCurve(file)
	if err != nil {
		t.Fatal(err)
	}
	var svg strings.Builder
	if err := plot(&svg, []curve{c}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`points="50.0,14.0 330.0,144.0 610.0,274.0 "`, ">1e-4<", ">solver<"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no %s in\n%s", want, svg.String())
		}
	}
	if err := os.WriteFile(file, []byte("the end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readCurve(file); err == nil {
		t.Error("a file without numbers is no error")
	}
}
