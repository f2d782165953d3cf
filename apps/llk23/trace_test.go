package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/trace"
)

// traced solves a problem on so many nodes, and reads the trace that it has written.
func traced(t *testing.T, count int, p problem, grid size, form form, most int) (f *field, _ *trace.Trace) {
	t.Helper()
	errs := make([]error, 1)
	make := func(int) *field {
		f := newField(p, grid, form)
		f.trace = &tracing{most: most}
		return f
	}
	if count == 1 {
		f = make(0)
		errs[0] = f.alone(t.Context())
	} else {
		f, errs = solveOn(t, count, make)
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := f.trace.done.WriteChrome(&text); err != nil {
		t.Fatal(err)
	}
	read, err := trace.Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	return f, read
}

// TestTraceAddsUp compares the slices with the report's shares: a block waits while none
// of its pieces does anything. It does so on one node and on two,
// with room for all slices and for few.
func TestTraceAddsUp(t *testing.T) {
	for _, count := range []int{1, 2} {
		for _, form := range []form{fused, nine} {
			for _, most := range rings.Sampling([]int{mostSlices, 200, 1}, []int{200}) {
				p := problem{rows: 3 * 33, cols: 2 * 70, iters: 30, kernel: listing(), values: noise}
				f, tr := traced(t, count, p, size{3, 2}, form, most)
				pieces := make(map[string]bool)
				exporters := 0
				for _, k := range tr.Tracks {
					if strings.HasSuffix(k.Task, ", exporter") {
						exporters++
					} else {
						pieces[k.Task] = true
					}
				}
				want := 0
				f.sides(func(int, int, bool) { want++ })
				if form == fused {
					want = 0
				}
				if exporters != want || len(pieces) < len(f.views) {
					t.Errorf("%s: %d exporters and %d pieces, want %d and at least %d", form, exporters, len(pieces), want, len(f.views))
				}
				told := tr.Report(trace.ReportOptions{})
				if full := told.NotRecorded > 0; full != (most < mostSlices) {
					t.Errorf("%s: with room for %d, some is left out: %v", form, most, full)
				}
				r := newReport(f)
				all := r.Seconds * float64(len(f.views))
				computes, waits := 0.0, all
				for _, task := range told.Tasks {
					if pieces[task.Task] {
						computes += task.Regions[trace.Compute]
						for _, worked := range task.Regions {
							waits -= worked
						}
					}
				}
				for _, c := range []struct {
					what        string
					slices, own float64
				}{{"compute", computes / all, r.ComputeShare}, {"wait", waits / all, r.QueuedShare + r.WaitShare}} {
					if math.Abs(c.slices-c.own) > 0.01*c.own {
						t.Errorf("%d nodes, %s, room for %d: the slices %s for %v of the time, the report says %v; all took %v, %v", count, form, most, c.what, c.slices, c.own, told.Seconds, r.Seconds)
					}
				}
			}
		}
	}
}

// TestTraceOfNodes checks that each hand-over of a frontier is in the trace, from one
// task to another and forward, and each task on its node.
func TestTraceOfNodes(t *testing.T) {
	for _, count := range []int{1, 2} {
		for _, form := range []form{fused, nine} {
			p := problem{rows: 4, cols: 6, iters: 10, kernel: listing(), values: noise}
			f, tr := traced(t, count, p, size{2, 3}, form, mostSlices)
			want := 0
			f.sides(func(int, int, bool) { want += 2*f.iters - 1 }) // written and read in turn
			got, between := 0, 0
			for _, h := range tr.Handovers() {
				from, to := &tr.Tracks[h.From.Track], &tr.Tracks[h.To.Track]
				left, came := from.Turns[h.From.Turn].Released, to.Turns[h.To.Turn].Acquired
				if from.Task == to.Task && strings.Contains(h.Resource, " to ") || left > came {
					t.Errorf("%s leaves %s at %v, and comes to %s at %v", h.Resource, from.Task, left, to.Task, came)
				}
				if strings.Contains(h.Resource, " to ") {
					got++
				}
				if from.Node != to.Node {
					between++
				}
			}
			if got != want || (between > 0) != (count > 1) {
				t.Errorf("%d nodes, %s: %d hand-overs, want %d; %d between nodes", count, form, got, want, between)
			}
			for _, k := range tr.Tracks {
				var row, col int
				if _, err := fmt.Sscanf(k.Task, "block %d,%d", &row, &col); err != nil {
					t.Errorf("a track is of %s: %v", k.Task, err)
				}
				if want := f.cells.Node(row*f.grid.cols + col); k.Node != want {
					t.Errorf("%s: %s is on node %d, want %d", form, k.Task, k.Node, want)
				}
			}
		}
	}
}

func TestTraceThatCannotBeWritten(t *testing.T) {
	if err := new(trace.Trace).WriteChrome(full{}); !errors.Is(err, errFull) {
		t.Errorf("writing to a full disk: %v", err)
	}
}
