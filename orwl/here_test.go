package orwl

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// ways are the ways in which a body can use an access for writing.
var ways = map[string]func(out Out[uint64]){
	"Slice": func(out Out[uint64]) { out.Slice()[0] = 7 },
	"In":    func(out Out[uint64]) { In[uint64](out).View().At(0) },
	"Write": func(out Out[uint64]) { Write[uint64](out.Access())[0] = 7 },
	"Read":  func(out Out[uint64]) { Read[uint64](out.Access()).At(0) },
}

// kinds are the kinds of tasks. Each gives a task a body of one round.
var kinds = map[string]func(task *Task, body func()){
	"step": func(task *Task, body func()) { task.Each(1, func(int) error { body(); return nil }) },
	"goroutine": func(task *Task, body func()) {
		task.Do(func(task *Task) error {
			for range task.Rounds(1) {
				body()
			}
			return nil
		})
	},
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
	if here() == 0 {
		t.Skip("nothing tells goroutines apart on this processor")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // a worker for each
	for way, use := range ways {
		for ownerKind, declareOwner := range kinds {
			for thiefKind, declareThief := range kinds {
				t.Run(way+" by a "+thiefKind+" of a "+ownerKind, func(t *testing.T) {
					rt := mustNew(t, Options{})
					r := Array[uint64](rt, "r", 1)
					owner, thief := rt.Task("owner"), rt.Task("thief")
					out := Writes[uint64](owner, r)
					held, over := make(chan struct{}), make(chan struct{})
					declareOwner(owner, func() { close(held); <-over })
					declareThief(thief, func() { <-held; defer close(over); use(out) })
					blames(t, rt.Run(t.Context()), r)
					checkIdle(t, rt)
					checkNobody(t, rt)
				})
			}
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

// The worker that runs one step has run another, which holds an access while it waits for the next one.
func TestAccessOfAnotherStep(t *testing.T) {
	if here() == 0 {
		t.Skip("nothing tells goroutines apart on this processor")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := mustNew(t, Options{})
	r, late := Array[uint64](rt, "r", 1), rt.Resource("late", 8)
	turn := rt.Resource("turn", 8)
	before, slow, first, owner, thief := rt.Task("before"), rt.Task("slow"), rt.Task("first"), rt.Task("owner"), rt.Task("thief")
	before.Write(r) // so that the owner waits for r first
	last := slow.Write(late)
	first.Write(turn)
	out := Writes[uint64](owner, r)
	owner.Read(late)
	thief.Write(turn)
	free, ran, again, over := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	waits := func(all ...chan struct{}) func(*Task) error {
		return func(task *Task) error {
			for range task.Rounds(1) {
				for _, c := range all {
					<-c
				}
			}
			return nil
		}
	}
	before.Do(waits(free))
	first.Do(waits(ran, again))
	slow.Do(func(slow *Task) error {
		err := errors.Join(last.Acquire(slow.Context()), last.Next())
		close(free)
		err = errors.Join(err, last.Acquire(slow.Context()))
		close(again)
		<-over
		return err
	})
	owner.Each(2, func(round int) error {
		if round == 0 {
			close(ran) // the worker then acquires r for the next round, and runs the thief after that
		}
		return nil
	})
	thief.Each(1, func(int) error {
		defer close(over)
		out.Slice()[0] = 7
		return nil
	})
	blames(t, rt.Run(t.Context()), r)
	checkNobody(t, rt)
}

// A body may leave its accesses to goroutines that it starts.
func TestAccessInHelper(t *testing.T) {
	for kind, declare := range kinds {
		rt := mustNew(t, Options{})
		r := Array[uint64](rt, "r", 2)
		task := rt.Task("owner")
		out := Writes[uint64](task, r)
		declare(task, func() {
			s := out.Slice()
			var all sync.WaitGroup
			for i := range 2 {
				all.Go(func() { s[i] = 1 + In[uint64](out).View().At(i) })
			}
			all.Wait()
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if v, err := Values[uint64](t.Context(), r); err != nil || v[0] != 1 || v[1] != 1 {
			t.Errorf("%s: %v, %v", kind, v, err)
		}
		checkNobody(t, rt)
	}
}

// The access of an earlier stage is another task's, and so is the last round of another step.
func TestOtherTaskElse(t *testing.T) {
	if here() == 0 {
		t.Skip("nothing tells goroutines apart on this processor")
	}
	for kind, declare := range kinds {
		rt := mustNew(t, Options{})
		r := Array[uint64](rt, "r", 1)
		owner := rt.Task("owner")
		out := Writes[uint64](owner, r)
		declare(owner, func() {})
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
		thief := rt.Task("thief")
		Writes[uint64](thief, r)
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
