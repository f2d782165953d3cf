package trace

import (
	"bytes"
	"context"
	rt "runtime/trace"
	"testing"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/orwl"
)

// run runs two tasks that pass a resource to and fro.
func run(t testing.TB, rounds int, observers ...orwl.Observer) {
	t.Helper()
	rt := mustNew(t, orwl.Options{Observers: observers})
	r := rt.Resource("x", 8)
	for _, name := range []string{"there", "back"} {
		task := rt.Task(name)
		orwl.Writes[byte](task, r)
		task.Do(func(t *orwl.Task) error {
			for range inner.OfTask(t).Rounds(rounds) {
			}
			return nil
		})
	}
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Tasks show up in a trace of Go's, and while there is none, nothing does anything.
func TestRegions(t *testing.T) {
	if rt.IsEnabled() {
		t.Skip("somebody else traces this process")
	}
	idle := NewRegions()
	run(t, 10, idle)
	for task, tail := range idle.tasks {
		if tail.sink.(*regional).task != nil {
			t.Errorf("task %s is in a trace that there is not", task.Name())
		}
	}
	var b bytes.Buffer
	if err := rt.Start(&b); err != nil {
		t.Fatal(err)
	}
	busy := NewRegions()
	run(t, 100, busy)
	rt.Stop()
	for task, tail := range busy.tasks {
		g := tail.sink.(*regional)
		if g.task == nil || g.wait != nil || g.hold != nil || g.holds != 0 {
			t.Errorf("task %s leaves %+v", task.Name(), g)
		}
	}
	// The names are in the trace's table of strings.
	for _, want := range []string{"there", "back", Wait, hold, Release, "write x"} {
		if !bytes.Contains(b.Bytes(), []byte(want)) {
			t.Errorf("Go's trace has no %q", want)
		}
	}
}
