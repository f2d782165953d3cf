package orwl

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/orwl/internal/goroutine"
	"github.com/orwl/go-orwl/resource"
)

// ways are the ways in which a body can use an access for writing.
var ways = map[string]func(out Out[uint64]){
	"Slice": func(out Out[uint64]) { out.Slice()[0] = 7 },
	"In":    func(out Out[uint64]) { In[uint64](out).View().At(0) },
	"Write": func(out Out[uint64]) { Write[uint64](out.Access())[0] = 7 },
	"Read":  func(out Out[uint64]) { Read[uint64](out.Access()).At(0) },
}

// once gives a task a body of one round.
func once(task *Task, body func()) { task.Each(1, func(int) error { body(); return nil }) }

// thieves are the ways in which a task of one kind or the other uses what is not its own.
var thieves = map[string]func(task *Task, body func()){
	"step":      once,
	"goroutine": func(task *Task, body func()) { task.Do(func(*Task) error { body(); return nil }) },
}

// blames checks that a run has ended because thief used what owner has declared, and has changed nothing.
func blames(t *testing.T, err error, r *resource.Resource) {
	t.Helper()
	var task *taskError
	if !errors.Is(err, errOtherTask) || !errors.As(err, &task) || task.Task != "thief" || isPanicked(err) ||
		!strings.Contains(err.Error(), `"owner"`) || !strings.Contains(err.Error(), `used by task "thief"`) {
		t.Errorf("%v, want errOtherTask of thief and owner", err)
	}
	if v, err := Values[uint64](t.Context(), r); err != nil || v[0] != 0 {
		t.Errorf("the resource has %v, %v, want [0]", v, err)
	}
}

// A body that uses the access of another task, while that one holds it, ends its task. The error names both.
func TestAccessOfAnotherTask(t *testing.T) {
	if goroutine.Number() == 0 {
		t.Skip("nothing tells goroutines apart on this processor")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // a worker for each
	for way, use := range ways {
		for kind, declare := range thieves {
			t.Run(way+" by a "+kind, func(t *testing.T) {
				rt := mustNew(t, Options{})
				r := Array[uint64](rt, "r", 1)
				owner, thief := rt.Task("owner"), rt.Task("thief")
				out := Writes[uint64](owner, r)
				held, over := make(chan struct{}), make(chan struct{})
				once(owner, func() { close(held); <-over })
				declare(thief, func() { <-held; defer close(over); use(out) })
				blames(t, rt.Run(t.Context()), r)
				checkIdle(t, rt)
				checkNobody(t, rt)
			})
		}
	}
}

// checkNobody checks that no goroutine is thought to run a body.
func checkNobody(t *testing.T, rt *Runtime) {
	t.Helper()
	rt.bodies.Range(func(g, whose any) bool {
		t.Errorf("goroutine %#x is thought to run a body of %T", g, whose)
		return true
	})
}

// A body may leave its accesses to goroutines that it starts.
func TestAccessInHelper(t *testing.T) {
	rt := mustNew(t, Options{})
	r := Array[uint64](rt, "r", 2)
	task := rt.Task("owner")
	out := Writes[uint64](task, r)
	once(task, func() {
		s := out.Slice()
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() { s[i] = 1 + In[uint64](out).View().At(i) })
		}
		all.Wait()
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if v, err := Values[uint64](t.Context(), r); err != nil || v[0] != 1 || v[1] != 1 {
		t.Errorf("%v, %v", v, err)
	}
	checkNobody(t, rt)
}

// The access of an earlier stage is another task's, and so is the last round of another step.
func TestOtherTaskElse(t *testing.T) {
	if goroutine.Number() == 0 {
		t.Skip("nothing tells goroutines apart on this processor")
	}
	for kind, declare := range thieves {
		rt := mustNew(t, Options{})
		r := Array[uint64](rt, "r", 1)
		owner := rt.Task("owner")
		out := Writes[uint64](owner, r)
		once(owner, func() {})
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
		thief := rt.Task("thief")
		declare(thief, func() { out.Slice()[0] = 7 })
		blames(t, rt.Run(t.Context()), r)

		rt = mustNew(t, Options{})
		owner, thief = rt.Task("owner"), rt.Task("thief")
		owner.Each(2, func(int) error { return nil })
		declare(thief, func() { owner.Last() })
		if err := rt.Run(t.Context()); !errors.Is(err, errOtherTask) || !strings.Contains(err.Error(), `Last of task "owner" in task "thief"`) {
			t.Errorf("Last by a %s: %v", kind, err)
		}
	}
}

// Last in a body of Do ends the task with an error that names it.
func TestLastInDo(t *testing.T) {
	rt := mustNew(t, Options{})
	rt.Task("loop").Do(func(task *Task) error { task.Last(); return nil })
	err := rt.Run(t.Context())
	if !errors.Is(err, errLast) || isPanicked(err) || !strings.Contains(err.Error(), `task "loop"`) {
		t.Errorf("%v, want errLast of task loop", err)
	}
}

// BenchmarkSlice is what a body pays to ask for what it writes.
func BenchmarkSlice(b *testing.B) {
	rt := mustNew(b, Options{})
	task := rt.Task("a")
	out := Writes[uint64](task, Array[uint64](rt, "r", 1))
	task.Each(1, func(int) error {
		for b.Loop() {
			out.Slice()[0]++
		}
		return nil
	})
	if err := rt.Run(b.Context()); err != nil {
		b.Error(err)
	}
}
