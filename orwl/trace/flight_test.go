package trace

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// told is a log. It closes wrote when a stall is in a file.
type told struct {
	bytes.Buffer
	wrote chan struct{}
	once  sync.Once
}

func (l *told) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("-stall.json")) {
		l.once.Do(func() { close(l.wrote) })
	}
	return l.Buffer.Write(line)
}

// flown runs two tasks with a flight recorder: b waits for a, which does fails in its round 50, with a channel that is closed when a
// stall is in a file. It returns the files, and the log.
func flown(t *testing.T, o orwl.Options, fails func(stalled <-chan struct{}) error) (files []string, log string, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new")
	t.Setenv("ORWL_FLIGHT", dir)
	l := &told{wrote: make(chan struct{})}
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
	for _, how := range []func(<-chan struct{}) error{func(<-chan struct{}) error { return broken }, func(<-chan struct{}) error { panic(broken) }} {
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
	files, log, err := flown(t, orwl.Options{Stall: 10 * time.Millisecond}, func(stalled <-chan struct{}) error {
		<-stalled
		return nil
	})
	if err != nil || len(files) == 0 || !strings.HasSuffix(files[0], "-stall.json") {
		t.Fatalf("%v, files %q\n%s", err, files, log)
	}
	trace := recordedIn(t, files[0])
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
		r.take(nil, &Event{At: time.Duration(i), Kind: Waiting})
	}
	if len(r.events) != 3 || r.events[r.next].at != 5 || r.events[(r.next+2)%3].at != 7 {
		t.Errorf("%+v, the oldest at %d", r.events, r.next)
	}
}
