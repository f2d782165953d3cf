package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"
)

// chromeTrace is what a viewer reads.
type chromeTrace struct {
	TraceEvents []struct {
		Ph, Name, ID, BP string
		Pid, Tid         int
		TS, Dur          float64
		Args             map[string]any
	}
}

func traced(t *testing.T, p problem, grid size, form form, most int) (*measured, *trace, chromeTrace) {
	t.Helper()
	tr := newTrace(most)
	f, err := newField(p, grid, form).solve(t.Context(), tr, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return f, tr, written(t, tr)
}

// written is a trace as a viewer gets it.
func written(t *testing.T, tr *trace) chromeTrace {
	t.Helper()
	var text bytes.Buffer
	if err := tr.write(&text); err != nil {
		t.Fatal(err)
	}
	var got chromeTrace
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestTraceAddsUp compares the slices with the report's shares, with room for all
// slices and for few.
func TestTraceAddsUp(t *testing.T) {
	for _, form := range []form{fused, nine} {
		for _, most := range []int{mostSlices, 200, 1} {
			p := problem{rows: 3 * 33, cols: 2 * 70, iters: 30, kernel: listing(), values: smooth}
			f, _, got := traced(t, p, size{3, 2}, form, most)
			main := make(map[int]bool)
			tracks, dropped := 0, false
			spent := make(map[string]float64)
			for _, e := range got.TraceEvents {
				switch {
				case e.Ph == "M" && e.Name == "thread_name":
					tracks++
					for _, p := range f.parts {
						main[e.Tid] = main[e.Tid] || e.Args["name"] == p.String()
					}
				case e.Ph == "X" && main[e.Tid] && e.Args["slices"] != nil:
					dropped = true
					sum := 0.0
					for p := range phases {
						us, _ := e.Args[p.String()+"_us"].(float64)
						spent[p.String()] += us
						sum += us
					}
					if nanos(sum) != nanos(e.Dur) {
						t.Errorf("%s: what is not recorded took %v, its phases %v", form, e.Dur, sum)
					}
				case e.Ph == "X" && main[e.Tid]:
					spent[e.Name] += e.Dur
				}
			}
			if want := len(f.parts) + len(f.exporters); tracks != want || len(main) != want {
				t.Errorf("%s: %d tracks, want %d", form, tracks, want)
			}
			if dropped != (most < mostSlices) {
				t.Errorf("%s: with room for %d slices, some are left out: %v", form, most, dropped)
			}
			r := newReport(f)
			all := r.Seconds * 1e6 * float64(len(f.parts))
			if got := spent["compute"] / all; math.Abs(got-r.ComputeShare) > 0.01*r.ComputeShare {
				t.Errorf("%s, room for %d: the slices compute for %v of the time, the report says %v", form, most, got, r.ComputeShare)
			}
			if got := (spent["acquire"] + spent["outside"]) / all; math.Abs(got-r.WaitShare) > 0.01*r.WaitShare {
				t.Errorf("%s, room for %d: the slices wait for %v of the time, the report says %v", form, most, got, r.WaitShare)
			}
		}
	}
}

// TestTraceArrows checks that each hand-over is an arrow from a slice of the task
// that wrote to a later one of the task that read.
func TestTraceArrows(t *testing.T) {
	const iters = 10
	for _, form := range []form{fused, nine} {
		p := problem{rows: 4, cols: 6, iters: iters, kernel: listing(), values: smooth}
		f, _, got := traced(t, p, size{2, 3}, form, mostSlices)
		checkArrows(t, form, f, got)
	}
}

// TestTraceOfNodes checks that the tracks of all nodes are in one trace, with arrows
// from one node to another that lead forward.
func TestTraceOfNodes(t *testing.T) {
	for _, form := range []form{fused, nine} {
		p := problem{rows: 4, cols: 6, iters: 10, kernel: listing(), values: smooth}
		f, tr, errs := solveOn(t, 2, func() *trace { return newTrace(mostSlices) }, func(int) *field { return newField(p, size{2, 3}, form) })
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		got := written(t, tr)
		checkArrows(t, form, f, got)
		node := make(map[string]int) // of a task
		for _, e := range got.TraceEvents {
			if name, _ := e.Args["name"].(string); e.Ph == "M" && e.Name == "thread_name" {
				node[name] = e.Pid - 1
			}
		}
		if want := len(f.parts) + len(f.exporters); len(node) != want {
			t.Errorf("%s: %d tracks, want %d", form, len(node), want)
		}
		for _, part := range f.parts {
			if node[part.String()] != part.node {
				t.Errorf("%s: %v is on node %d, want %d", form, part, node[part.String()], part.node)
			}
		}
	}
}

// checkArrows checks that each hand-over is an arrow from a slice of the task that
// wrote to a later one of the task that read.
func checkArrows(t *testing.T, form form, f *measured, got chromeTrace) {
	t.Helper()
	type end struct {
		at  float64
		tid int
	}
	begins := make(map[string]end)
	for _, e := range got.TraceEvents {
		if e.Ph == "s" {
			if _, twice := begins[e.ID]; twice {
				t.Errorf("arrow %s begins twice", e.ID)
			}
			begins[e.ID] = end{e.TS, e.Tid}
		}
	}
	ends := 0
	within := func(at float64, tid int) (phase string) {
		for _, e := range got.TraceEvents {
			if e.Ph == "X" && e.Tid == tid && nanos(e.TS) <= nanos(at) && nanos(at) < nanos(e.TS)+nanos(e.Dur) {
				return e.Name
			}
		}
		return "nothing"
	}
	for _, e := range got.TraceEvents {
		if e.Ph != "f" {
			continue
		}
		ends++
		begin, ok := begins[e.ID]
		if !ok || begin.tid == e.Tid || begin.at > e.TS || e.BP != "e" {
			t.Errorf("arrow %s ends at %v on track %d, begins at %v on track %d (%v)", e.ID, e.TS, e.Tid, begin.at, begin.tid, ok)
		}
		if at, from := within(e.TS, e.Tid), within(begin.at, begin.tid); at != "read" || from != "release" {
			t.Errorf("arrow %s leads from %s to %s", e.ID, from, at)
		}
	}
	// Half of the frontiers are those of the last iteration: the first time they are
	// initial values.
	if want := f.frontiers*f.iters - f.frontiers/2; ends != want || len(begins) != want {
		t.Errorf("%s: %d arrows begin and %d end, want %d", form, len(begins), ends, want)
	}
}

// nanos is a time of a trace, which is in microseconds and exact to the nanosecond.
func nanos(micros float64) int64 { return int64(math.Round(micros * 1000)) }

// TestTraceIsBounded counts what is kept.
func TestTraceIsBounded(t *testing.T) {
	p := problem{rows: 4, cols: 6, iters: 100, kernel: listing(), values: smooth}
	f, tr, _ := traced(t, p, size{2, 3}, nine, 1000)
	room := 1000 / len(tr.tracks)
	for _, track := range tr.tracks {
		if len(track.Slices) > room || len(track.Comes) > arrows*room || len(track.Leaves) > arrows*room || track.Dropped == 0 {
			t.Errorf("%s keeps %d slices and %d+%d ends of arrows, and left out %d; there is room for %d",
				track.Name, len(track.Slices), len(track.Comes), len(track.Leaves), track.Dropped, room)
		}
	}
	if want := len(f.parts) + len(f.exporters); len(tr.tracks) != want {
		t.Errorf("%d tracks, want %d", len(tr.tracks), want)
	}
}

func TestTraceThatCannotBeWritten(t *testing.T) {
	tr := newTrace(1)
	if err := tr.write(full{}); !errors.Is(err, errFull) {
		t.Errorf("writing to a full disk: %v", err)
	}
}
