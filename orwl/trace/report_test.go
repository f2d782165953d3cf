package trace

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// relay is a trace of two nodes: a writes x for 2 ms and b gets it 3 ms later, waiting
// since 1. Then b reads y, which no task is known to have had. Then it reads x once more,
// which has been free since before it waits.
func relay() *Trace {
	return &Trace{
		Clocks: []Clock{{Node: 0, Shared: true}, {Node: 1, Offset: -7 * ms, Error: 20 * time.Microsecond}},
		To:     20 * ms,
		Tracks: []Track{
			{Task: "a", Node: 0, Began: 0, Ended: 9 * ms, Accesses: []Access{{"x", true}},
				Slices: []Slice{{Compute, 0, 2 * ms}, {Release, 2 * ms, 3 * ms}, {Compute, 7 * ms, 8 * ms}, {Release, 8 * ms, 9 * ms}},
				Turns: []Turn{
					{Requested: 0, Here: none, Asked: none, Acquired: 0, Released: 2 * ms, Fence: 1},
					{Requested: 3 * ms, Here: none, Asked: 3 * ms, Acquired: 7 * ms, Released: 8 * ms, Fence: 3},
				}},
			{Task: "b", Node: 1, Began: ms, Ended: 20 * ms, Accesses: []Access{{"x", true}, {"y", false}},
				Slices: []Slice{{"stir", 5 * ms, 6 * ms}, {"stir", 11 * ms, 12 * ms}, {"stir", 14 * ms, 20 * ms}},
				Turns: []Turn{
					{Requested: 0, Here: 4 * ms, Asked: ms, Acquired: 5 * ms, Released: 6 * ms, Fence: 2, Bytes: 8},
					{Access: 1, Requested: 0, Here: none, Asked: 6 * ms, Acquired: 11 * ms, Released: 12 * ms, Fence: 4},
					{Requested: 6 * ms, Here: none, Asked: 12 * ms, Acquired: 14 * ms, Released: 20 * ms, Fence: 4},
				}},
		},
	}
}

func TestReportOfNodes(t *testing.T) {
	tr := relay()
	_, read := written(t, tr)
	if !reflect.DeepEqual(read, tr) {
		t.Errorf("read again it is\n%+v, was\n%+v", read, tr)
	}
	r := tr.Report(ReportOptions{})
	golden(t, "relay.txt", r.String())
	var got []string
	for _, h := range tr.Handovers() {
		got = append(got, fmt.Sprintf("%s %s→%s", h.Resource, tr.Tracks[h.From.Track].Task, tr.Tracks[h.To.Track].Task))
	}
	if want := []string{"x a→b", "x b→a", "x a→b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("hand-overs %v, want %v", got, want)
	}
	// From the end: 8 of work and 2 of a hand-over, though x was free, 5 of a wait for an
	// unknown task, 1 of work, 3 of a hand-over, 2 of work of a.
	want := Path{Seconds: 0.020, Steps: 1, Parts: []PathPart{
		{pathWork, "b", 1, 3, 0.008}, {pathHandover, "x", 1, 2, 0.005}, {pathWait, "b", 1, 1, 0.005}, {pathWork, "a", 0, 1, 0.002},
	}}
	if !reflect.DeepEqual(r.Path, want) {
		t.Errorf("%+v, want %+v", r.Path, want)
	}
	if s := r.Tasks[1]; s.Wait != 0.011 || math.Abs(s.unknown()) > 1e-12 || math.Abs(s.Turn-0.006)+math.Abs(s.Data-0.002)+math.Abs(s.Queued-0.003) > 1e-12 || s.Regions["stir"] != 0.008 || s.Idle != 0.001 || s.Manage != 0 {
		t.Errorf("%+v", s)
	}
}

// Fewer waits are told if fewer are asked for, and none at all.
func TestReportOptions(t *testing.T) {
	for asked, want := range map[int]int{0: 4, 2: 2, -1: 0, 100: 4} {
		if got := len(relay().Report(ReportOptions{Waits: asked}).Waits); got != want {
			t.Errorf("asked for %d: %d waits", asked, got)
		}
	}
}

// A report of many tasks has those that waited longest, and of many regions those with
// the most time.
func TestReportOfMany(t *testing.T) {
	tr := &Trace{To: 100 * ms}
	for i := range 40 {
		k := Track{Task: fmt.Sprint("task ", i), Ended: 100 * ms, Accesses: []Access{{"x", false}}}
		at := time.Duration(0)
		for j := range 6 {
			lasts := time.Duration(6-j) * ms
			k.Slices = append(k.Slices, Slice{fmt.Sprint("a region ", j), at, at + lasts})
			at += lasts
		}
		k.Turns = []Turn{{Asked: at, Acquired: at + time.Duration(i+1)*ms, Released: 100 * ms, Here: none}}
		tr.Tracks = append(tr.Tracks, k)
	}
	text := tr.Report(ReportOptions{}).String()
	for _, want := range []string{"The 24 tasks that waited longest:\n", " a region 0 a region 1 a region 2 a region 3     others for a turn"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "task 7 ") || !strings.Contains(text, "task 16 ") {
		t.Errorf("other tasks than those that waited longest:\n%s", text)
	}
	if got := new(Trace).Report(ReportOptions{}).String(); !strings.HasPrefix(got, "0 tasks on 0 nodes, in 0s") {
		t.Errorf("of nothing:\n%s", got)
	}
}

func TestTextOfTimes(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0s", 1e-9: "1ns", 0.0123456: "12.35ms", 1.23456: "1.235s", 83.456: "1m23.46s", 7200: "2h0m0s"} {
		if got := duration(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}
