package orwl

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

func nothing(*Task) error { return nil }

func TestOptions(t *testing.T) {
	for _, stall := range []time.Duration{1, leastStall - 1} {
		if rt, err := New(Options{Stall: stall}); rt != nil || err == nil || !strings.Contains(err.Error(), "Options.Stall") {
			t.Errorf("%v: %v, %v", stall, rt, err)
		}
	}
	for stall, want := range map[time.Duration]time.Duration{0: defaultStall, -1: -1, leastStall: leastStall} {
		rt, err := New(Options{Stall: stall})
		if err != nil {
			t.Fatal(err)
		}
		if rt.o.Stall != want || rt.o.Log == nil {
			t.Errorf("%v: %+v", stall, rt.o)
		}
	}
}

// Run reports all mistakes of a program at once, and nothing starts.
func TestDeclarationErrors(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	rt.Resource("r", 16)
	rt.Resource("", 8)
	rt.Resource("odd", -7)
	rt.Resource("negative", -8)
	ran := false
	task := rt.Task("a")
	task.Write(r)
	task.Read(rt.Lookup("no such"))
	task.Each(1, func(int) error { ran = true; return nil })
	rt.Task("a").Do(nothing)
	rt.Task("").Do(nothing)
	rt.Task("idle")
	outside := rt.Task("outside")
	outside.Read(r)
	outside.Do(nothing)
	err := rt.Run(context.Background())
	for _, want := range []error{errName, errBody, errAccesses, errResource, queue.ErrSize} {
		if !errors.Is(err, want) {
			t.Errorf("%v\nis not %v", err, want)
		}
	}
	const all = `orwl: name is empty or taken: resource "r"
orwl: name is empty or taken: resource ""
resource: "odd": size must be a number of bytes, 0 or more, not -7
resource: "negative": size must be a number of bytes, 0 or more, not -8
orwl: resource is nil: declare it by Array with this runtime: read by task "a"
orwl: name is empty or taken: task "a"
orwl: name is empty or taken: task ""
orwl: task has no body: give it one by Each or Do: "idle"
orwl: a body of Do uses no declared access: give the task a body by Each, or use the resource by a handle: task "outside"`
	if err.Error() != all {
		t.Errorf("%v\nwant\n%s", err, all)
	}
	if ran {
		t.Error("a task ran")
	}
	if rt.Lookup("r") != r || rt.Lookup("no such") != nil {
		t.Error("the first of a name is not what Lookup finds, or what is not there is")
	}
	if report := rt.Inspect(); report.Running {
		t.Errorf("report of a program that has not started: %v", report)
	}
	checkIdle(t, rt)
}

// A declaration while the program runs is no part of it, and Run says so.
func TestDeclaredTooLate(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	task := rt.Task("a")
	task.Write(r)
	task.Each(1, func(int) error {
		late := task.Read(rt.Resource("late", 8))
		if late.Place().Requested() {
			t.Error("what is declared too late is requested")
		}
		rt.Task("b").Do(nothing)
		return nil
	})
	const late = "orwl: a run has begun: declare resources, tasks and accesses before it, or after it for the next one: "
	want := late + `resource "late"` + "\n" + late + `an access of task "a"` + "\n" +
		late + `task "b"` + "\n" + late + `the body of task "b"`
	err := rt.Run(context.Background())
	if !errors.Is(err, errStarted) || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
	if len(rt.tasks) != 1 || len(task.accesses) != 1 || rt.Lookup("late") != nil {
		t.Errorf("the program has changed: %v", rt.System())
	}
	// A failed run keeps its failure, too.
	rt = mustNew(t, Options{})
	rt.Task("a").Do(func(t *Task) error {
		rt.Task("b")
		return errPlanned
	})
	if err := rt.Run(context.Background()); !errors.Is(err, errStarted) || !errors.Is(err, errPlanned) {
		t.Error(err)
	}
}

// A request that was made for a task before the run breaks the canonical order. Run
// takes all requests back.
func TestFirstRequestFails(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 0)
	var accesses []*Access
	for _, name := range []string{"a", "b", "c"} {
		task := rt.Task(name)
		accesses = append(accesses, task.Write(r))
		task.Each(1, func(int) error { return nil })
	}
	if err := accesses[1].Place().Request(core(r), queue.Write); err != nil {
		t.Fatal(err)
	}
	err := rt.Run(context.Background())
	if !errors.Is(err, queue.ErrRequested) || !strings.HasPrefix(err.Error(), `orwl: first request of task "b": `) {
		t.Error(err)
	}
	if report := rt.Inspect(); report.Running {
		t.Errorf("report of a program that has not started: %v", report)
	}
	if err := accesses[0].Place().Acquire(context.Background()); !errors.Is(err, queue.ErrNotRequested) {
		t.Errorf("afterwards: %v", err)
	}
	checkIdle(t, rt)
}

// A task and its accesses return what was declared, in that order.
func TestDeclared(t *testing.T) {
	rt := mustNew(t, Options{})
	x, y := rt.Resource("x", 0), rt.Resource("y", 0)
	task := rt.Task("a")
	write, read := task.Write(y), task.Read(x)
	task.Each(1, func(int) error { return nil })
	if write.Resource() != y || write.Mode() != queue.Write || read.Resource() != x || read.Mode() != queue.Read || task.Name() != "a" {
		t.Error("an access is not what was declared")
	}
	if err := write.Place().Acquire(context.Background()); !errors.Is(err, queue.ErrNotRequested) {
		t.Errorf("before the run: %v", err)
	}
	if v := task.Accesses(); len(v) != 2 || v[0] != write || v[1] != read {
		t.Errorf("%v", v)
	}
	if got, want := rt.System().String(), "task a: write y, read x\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := rt.Run(context.Background()); err != nil {
		t.Error(err)
	}
}

// A resource with a wrong declaration is broken from the start: its first use returns
// what is wrong, and so does Run.
func TestWrongResourceSaysSoAtFirstUse(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		declare func(rt *Runtime) *resource.Resource
		reason  error
		text    string
	}{
		"size -8": {func(rt *Runtime) *resource.Resource { return rt.Resource("r", -8) }, queue.ErrSize, `"r": size must be a number of bytes, 0 or more, not -8`},
		"no name": {func(rt *Runtime) *resource.Resource { return rt.Resource("", 8) }, errName, `name is empty or taken: resource ""`},
		"taken": {func(rt *Runtime) *resource.Resource {
			rt.Resource("r", 8)
			return rt.Resource("r", 8)
		}, errName, `name is empty or taken: resource "r"`},
	} {
		t.Run(name, func(t *testing.T) {
			rt := mustNew(t, Options{})
			r := c.declare(rt)
			_, read := Values[float64](ctx, r)
			for use, err := range map[string]error{
				"Fill":   Fill(ctx, r, func([]float64) { t.Error("filled what was declared wrongly") }),
				"Values": read,
			} {
				if !errors.Is(err, queue.ErrBroken) || !errors.Is(err, c.reason) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%s: %v, want %s", use, err, c.text)
				}
			}
			if err := rt.Run(ctx); !errors.Is(err, c.reason) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("Run: %v, want %s", err, c.text)
			}
		})
	}
}
