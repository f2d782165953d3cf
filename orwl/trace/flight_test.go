package trace

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// told is a log. It tells of the first file that is written when the body is where it should be: on a slow machine something else may
// stand still for a moment before.
type told struct {
	bytes.Buffer
	there atomic.Bool
	wrote chan string
}

var fileSaid = regexp.MustCompile(`file=(\S+)`)

func (l *told) Write(line []byte) (int, error) {
	if m := fileSaid.FindSubmatch(line); m != nil && l.there.CompareAndSwap(true, false) {
		l.wrote <- string(m[1])
	}
	return l.Buffer.Write(line)
}

// flown runs two tasks with a flight recorder: b waits for a, which does fails in its round 50, with a channel that tells of the next
// file. It returns all files, and the log.
func flown(t *testing.T, o orwl.Options, fails func(wrote <-chan string) error) (files []string, log string, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new")
	t.Setenv("ORWL_FLIGHT", dir)
	l := &told{wrote: make(chan string, 1)}
	o.Log = slog.New(slog.NewTextHandler(l, nil))
	rt, err := orwl.New(o)
	if err != nil {
		t.Fatal(err)
	}
	x := orwl.Array[int64](rt, "x", 1)
	a, b := rt.Task("a"), rt.Task("b")
	orwl.Writes[int64](a, x)
	orwl.Reads[int64](b, x)
	a.Each(60, func(round int) error {
		if round == 50 {
			l.there.Store(true)
			return fails(l.wrote)
		}
		return nil
	})
	b.Each(60, func(int) error { return nil })
	err = rt.Run(context.Background())
	found, _ := filepath.Glob(filepath.Join(dir, "flight-node0-*.json"))
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	return found, l.String(), err
}

// recordedIn reads a file of the recorder, and checks what the two tasks did last.
func recordedIn(t *testing.T, name string) *Trace {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trace, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Tracks) != 2 || trace.Tracks[0].Task != "a" || trace.Tracks[1].Task != "b" {
		t.Fatalf("%+v", trace.Tracks)
	}
	return trace
}

// A body that fails, or panics, ends the run: what the tasks did before is in a file.
func TestFlightOfAFailure(t *testing.T) {
	broken := errors.New("broken")
	for _, how := range []func(<-chan string) error{func(<-chan string) error { return broken }, func(<-chan string) error { panic(broken) }} {
		files, log, err := flown(t, orwl.Options{}, how)
		if !errors.Is(err, broken) || len(files) != 1 || !strings.HasSuffix(files[0], "-error.json") || !strings.Contains(log, files[0]) {
			t.Fatalf("%v, files %q\n%s", err, files, log)
		}
		trace := recordedIn(t, files[0])
		if n := len(trace.Tracks[0].Turns); n < 50 || len(trace.Handovers()) < 90 {
			t.Errorf("%d turns of a, and %d hand-overs", n, len(trace.Handovers()))
		}
	}
}

// Nothing moves: the file has the body that goes on.
func TestFlightOfAStall(t *testing.T) {
	name := ""
	files, log, err := flown(t, orwl.Options{Stall: 10 * time.Millisecond}, func(wrote <-chan string) error {
		name = <-wrote
		return nil
	})
	if err != nil || !slices.Contains(files, name) || !strings.HasSuffix(name, "-stall.json") {
		t.Fatalf("%v, files %q\n%s", err, files, log)
	}
	trace := recordedIn(t, name)
	a, b := trace.Tracks[0], trace.Tracks[1]
	last := a.Slices[len(a.Slices)-1]
	if last.Name != Compute || last.To != trace.To || last.To-last.From < 5*time.Millisecond {
		t.Errorf("a did %+v until the end of %v", last, trace.To)
	}
	if from, to, waited := b.Turns[len(b.Turns)-1].Waited(); waited && (to != trace.To || to-from < 5*time.Millisecond) {
		t.Errorf("b waited from %v to %v", from, to)
	}
}

// A ring keeps the last events, in order.
func TestLastEvents(t *testing.T) {
	r := &lastEvents{room: func() int { return 3 }}
	for i := range 8 {
		r.take(nil, &event{at: time.Duration(i), kind: waiting})
	}
	if len(r.events) != 3 || r.events[r.next].at != 5 || r.events[(r.next+2)%3].at != 7 {
		t.Errorf("%+v, the oldest at %d", r.events, r.next)
	}
}
