package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

const ms = time.Millisecond

// written is the trace as a file, and as it is read again.
func written(t *testing.T, tr *Trace) (text string, read *Trace) {
	t.Helper()
	var b bytes.Buffer
	if err := tr.WriteChrome(&b); err != nil {
		t.Fatal(err)
	}
	text = b.String()
	if !json.Valid(b.Bytes()) {
		t.Fatalf("no JSON:\n%s", text)
	}
	read, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return text, read
}

// The small program's trace is known to the nanosecond.
func TestTraceOfSmallProgram(t *testing.T) {
	tr := recorded(t, Options{})
	text, read := written(t, tr)
	golden(t, "small.json", text)
	golden(t, "small.txt", tr.Report(ReportOptions{}).String())
	if !reflect.DeepEqual(read, tr) {
		t.Errorf("read again it is\n%+v, was\n%+v", read, tr)
	}
	// 3 rounds of 3 and 5 ms, and reader 1 takes less.
	if tr.From != 0 || tr.To != 24*ms {
		t.Errorf("from %v to %v", tr.From, tr.To)
	}
	for name, want := range map[string]map[string]time.Duration{
		"writer":   {Compute: 9 * ms, Wait: 2 * 5 * ms},
		"reader 1": {Compute: 6 * ms, Wait: 3*3*ms + 2*3*ms},
		"reader 2": {"look": 10 * ms, "think": 5 * ms, Wait: 9 * ms},
	} {
		for i := range tr.Tracks {
			if k := &tr.Tracks[i]; k.Task == name {
				got := k.Sums()
				delete(got, Release) // of no length here
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
		}
	}
	// W R R W R R W R R: each reader from its writer, each writer from the last reader.
	if got := len(tr.Handovers()); got != 3*2+2 {
		t.Errorf("%d hand-overs", got)
	}
	for _, h := range tr.Handovers() {
		if from, to := &tr.Tracks[h.From.Track], &tr.Tracks[h.To.Track]; from.Task == "reader 1" || from.Task == to.Task {
			t.Errorf("%s has it from %s", to.Task, from.Task)
		}
	}
	// Nothing but the writer and the slower reader is on the path.
	p := tr.Report(ReportOptions{}).Path
	if p.Seconds != 0.024 || p.Steps != 5 || len(p.Parts) != 2 || p.Parts[0].Of != "reader 2" || p.Parts[0].Seconds != 0.015 || p.Parts[1].Of != "writer" {
		t.Errorf("%+v", p)
	}
}

// With little room, each task keeps what comes first, and the sums stay what they were.
func TestTraceIsBounded(t *testing.T) {
	whole := recorded(t, Options{})
	for _, most := range []int{1, 3, 6, 9} {
		tr := recorded(t, Options{Slices: most})
		_, tr = written(t, tr)
		for i := range tr.Tracks {
			k := &tr.Tracks[i]
			if room := max(1, most/3); len(k.Slices) > room || len(k.Turns) > room || k.Rest.Slices == 0 || k.Rest.Turns == 0 {
				t.Errorf("room for %d: %s keeps %d slices and %d turns, and left out %+v", room, k.Task, len(k.Slices), len(k.Turns), k.Rest)
			}
			if want := whole.Tracks[i].Sums(); !reflect.DeepEqual(k.Sums(), want) {
				t.Errorf("room for %d: the sums of %s are %v, want %v", most, k.Task, k.Sums(), want)
			}
		}
		if r := tr.Report(ReportOptions{}); r.NotRecorded == 0 || !strings.Contains(r.String(), "The trace was full") {
			t.Errorf("the report does not say that there was no room:\n%v", r)
		}
	}
}

// Short slices without a name are what handling accesses takes, and several releases in a
// row are one slice. All of it adds up to the task's life.
func TestShortSlices(t *testing.T) {
	rec := mustRecord(t, Options{Clock: func() func() time.Duration {
		tick := ticking()
		return func() time.Duration { return tick() / 10 } // 100 ns
	}()})
	rt := mustNew(t, orwl.Options{Observers: []orwl.Observer{rec}})
	task := rt.Task("a")
	for _, name := range []string{"x", "y", "z"} {
		orwl.Writes[byte](task, rt.Resource(name, 0))
	}
	task.Each(2, func(int) error {
		for range 20 {
			rec.Now()
		}
		return nil
	})
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	k := rec.Trace().Tracks[0]
	var names []string
	for _, s := range k.Slices {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "compute release compute release" {
		t.Errorf("slices: %s", got)
	}
	sum := k.Handling
	for _, s := range k.Sums() {
		sum += s
	}
	if sum != k.Ended-k.Began || k.Handling == 0 {
		t.Errorf("it lives for %v, the slices add up to %v, %v of it handling", k.Ended-k.Began, sum, k.Handling)
	}
}

// A wait that ends with the run is in the trace, as a turn that was cancelled.
func TestTraceOfCancelledWait(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // so many workers
	wrong := errors.New("wrong")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		rec := mustRecord(t, Options{})
		rt := mustNew(t, orwl.Options{Observers: []orwl.Observer{rec}})
		r := rt.Resource("x", 0)
		holds, waits := rt.Task("holds"), rt.Task("waits")
		orwl.Writes[byte](holds, r)
		orwl.Writes[byte](waits, r)
		holds.Each(1, func(int) error {
			pass(ms)
			cancel(wrong)
			return nil
		})
		waits.Each(1, func(int) error { return nil })
		alone := rt.Task("alone") // so that the others are no circle, which has one worker
		orwl.Writes[byte](alone, rt.Resource("y", 0))
		alone.Each(1, func(int) error { return nil })
		if err := rt.Run(ctx); !errors.Is(err, wrong) {
			t.Fatal(err)
		}
		_, tr := written(t, rec.Trace())
		u := tr.Tracks[2].Turns[0] // behind alone and holds
		if from, to, waited := u.Waited(); !waited || from != 0 || to != ms || u.Acquired != none {
			t.Errorf("%+v", u)
		}
		if r := tr.Report(ReportOptions{}); len(r.Waits) != 1 || r.Waits[0].Behind != "" || r.Waits[0].Seconds != 0.001 {
			t.Errorf("%+v", r.Waits)
		}
	})
}

func TestRecorderOptions(t *testing.T) {
	for _, bad := range []int{-1, mostSlices + 1} {
		if _, err := NewRecorder(Options{Slices: bad}); err == nil || !strings.Contains(err.Error(), "Options.Slices") {
			t.Errorf("%d slices: %v", bad, err)
		}
	}
	var nobody *Recording
	nobody.Region("x", 0)
	if _, _, waited := nobody.LastWait(); waited {
		t.Error("who is not recorded waits")
	}
	rec := mustRecord(t, Options{Tasks: func(t *orwl.Task) bool { return t.Name() != "reader 1" }})
	rt := mustNew(t, orwl.Options{Observers: []orwl.Observer{rec}})
	r := rt.Resource("x", 0)
	for _, name := range []string{"writer", "reader 1"} {
		task := rt.Task(name)
		orwl.Reads[byte](task, r)
		task.Each(1, func(int) error { return nil })
	}
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := rec.Trace().Tracks; len(got) != 1 || got[0].Task != "writer" {
		t.Errorf("%+v", got)
	}
}

func TestOrderOfTracks(t *testing.T) {
	names := []string{"a", "block 2,9", "block 2,10", "block 10,1", "c"}
	for i, a := range names {
		for j, b := range names {
			if got := natural(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%q, %q: %d", a, b, got)
			}
		}
	}
}

// A program of many stages leaves a recorder with what it has room for.
func TestManyStages(t *testing.T) {
	recorder := mustRecord(t, Options{Slices: 1000})
	rt := mustNew(t, orwl.Options{Observers: []orwl.Observer{recorder}})
	shared := rt.Resource("shared", 8)
	for range 2_000 {
		for _, name := range []string{"a", "b"} {
			x := rt.Task(name)
			orwl.Writes[byte](x, shared)
			x.Each(2, func(int) error { return nil })
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	rt.Task("c").Do(func(*orwl.Task) error { return nil }) // and so the others are forgotten
	if len(recorder.tasks) > 0 {
		t.Errorf("%d tasks are followed", len(recorder.tasks))
	}
	if tracks := len(recorder.Trace().Tracks); tracks < 10 || tracks > 1001 || recorder.spent > 1000 {
		t.Errorf("%d tracks of %d slices and turns", tracks, recorder.spent)
	}
}

// BenchmarkHandOver is the cost of an observer, as a ratio to the time without one. Two tasks
// pass a resource to and fro and do nothing else. The two measurements alternate after a few
// thousand rounds, so that other load of the machine concerns both.
func BenchmarkHandOver(b *testing.B) {
	const rounds = 5000
	for _, c := range []struct {
		name     string
		observer func() orwl.Observer
	}{
		{"recorded", func() orwl.Observer { return mustRecord(b, Options{}) }},
		{"full", func() orwl.Observer { return mustRecord(b, Options{Slices: 1}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var with, without time.Duration
			for b.Loop() {
				begin := time.Now()
				run(b, rounds)
				middle := time.Now()
				run(b, rounds, c.observer())
				without += middle.Sub(begin)
				with += time.Since(middle)
			}
			hands := float64(2 * rounds * b.N)
			b.ReportMetric(float64(with)/float64(without), "ratio")
			b.ReportMetric(float64(without.Nanoseconds())/hands, "ns-without")
			b.ReportMetric(float64(with.Nanoseconds())/hands, "ns-with")
		})
	}
}

// run runs two tasks that pass a resource to and fro.
func run(t testing.TB, rounds int, observers ...orwl.Observer) {
	t.Helper()
	rt := mustNew(t, orwl.Options{Observers: observers})
	r := rt.Resource("x", 8)
	for _, name := range []string{"there", "back"} {
		task := rt.Task(name)
		orwl.Writes[byte](task, r)
		task.Each(rounds, func(int) error { return nil })
	}
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}
