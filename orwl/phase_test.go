package orwl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// pipeline declares a phase of a task with a goroutine and a step task that double a number
// in turn, with one round ahead. out is its resource.
func pipeline(p *Phase, name string, out *resource.Resource, rounds int) {
	for _, kind := range []string{"goroutine", "step"} {
		task := p.Task(name + " " + kind)
		a := task.Write(out).Ahead(1)
		double := func() { Write[uint64](a)[0] = 2*Write[uint64](a)[0] + 1 }
		if kind == "step" {
			task.Each(rounds, func(int) error { double(); return nil })
			continue
		}
		task.Do(func(task *Task) error {
			for range task.Rounds(rounds) {
				p.rt.Inspect() // which remembers what it has seen
				double()
			}
			return nil
		})
	}
}

// A task calls phases, one after another: with a resource that each declares, and with one
// that the program has declared and no running task uses. The run goes on meanwhile.
func TestPhase(t *testing.T) {
	rt := mustNew(t, Options{})
	spare := rt.Resource("spare", 8)
	own := rt.Resource("own", 8)
	task, other := rt.Task("main"), rt.Task("other")
	a := task.Write(own)
	other.Read(own)
	other.Each(3, func(int) error { return nil })
	task.Do(func(task *Task) error {
		for round := range task.Rounds(3) {
			var mine *resource.Resource
			err := rt.Phase(task.Context(), func(p *Phase) {
				mine = p.Resource(fmt.Sprint("sum ", round), 8)
				pipeline(p, "a", mine, 3)
				pipeline(p, "b", spare, 2)
			})
			if err != nil {
				return err
			}
			if rt.Lookup(mine.Name()) != mine || len(rt.tasks) != 2 {
				t.Errorf("%d tasks after the phase, and its resource is %v", len(rt.tasks), rt.Lookup(mine.Name()))
			}
			sum, err := Values[uint64](task.Context(), mine)
			if err != nil || sum[0] != 1<<6-1 {
				t.Errorf("%d, %v", sum, err)
			}
			Write[uint64](a)[0]++
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkIdle(t, rt)
	if v, err := Values[uint64](t.Context(), spare); err != nil || v[0] != 1<<12-1 {
		t.Errorf("%v, %v", v, err)
	}
	if rt.seen.Len() > 2 {
		t.Errorf("%d accesses are remembered, 2 have been declared", rt.seen.Len())
	}
}

// Random programs that phases join compute the same as without: each phase reads one of their
// resources, whatever the moment. And a phase computes what its own program does alone.
func TestPhasesDisturbNothing(t *testing.T) {
	joined, late := 0, 0
	for seed := range plans(t, 2) {
		p, q := drawPlan(seed), drawPlan(seed+1<<40)
		if len(p.order()) < len(p.tasks) || len(q.order()) < len(q.tasks) {
			continue
		}
		want, wantOfPhase := p.sequential(), q.sequential()
		seen := make([][]uint64, len(p.tasks))
		rt := p.declare(t, Options{}, func(i int) func(*Task) error {
			return p.body(i, &seen[i], noise(seed<<8+uint64(i)), (*Task).Context)
		})
		begun := make(chan struct{})
		gate := rt.Task("gate") // the run lasts until all phases have joined
		over := make(chan struct{})
		gate.Do(func(*Task) error { close(begun); <-over; return nil })
		var all sync.WaitGroup
		all.Go(func() {
			defer close(over)
			<-begun
			for n := range 2 {
				seenOfPhase := make([][]uint64, len(q.tasks))
				between := noise(seed ^ uint64(n))
				for range 50 * n {
					between()
				}
				err := rt.Phase(t.Context(), func(phase *Phase) {
					q.joins(phase, n, rt.Lookup("r0"), func(i int) func(*Task) error {
						return q.body(i, &seenOfPhase[i], noise(seed<<8+uint64(i)), (*Task).Context)
					})
				})
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
					return
				}
				for i := range seenOfPhase {
					if !slices.Equal(seenOfPhase[i], wantOfPhase.seen[i]) {
						t.Errorf("seed %d: task %d of the phase sees other values than alone", seed, i)
					}
				}
				joined++
			}
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Fatalf("%v\nin %v", err, p)
		}
		all.Wait()
		for i := range seen {
			if !slices.Equal(seen[i], want.seen[i]) {
				t.Errorf("seed %d: task %d sees other values than alone", seed, i)
			}
		}
		checkIdle(t, rt)
		if t.Failed() {
			t.Fatalf("in %v", p)
		}
		late++
	}
	if joined == 0 || late == 0 {
		t.Error("no phase has joined")
	}
	t.Logf("%d phases joined %d programs", joined, late)
}

// joins declares the plan as a phase on resources of its own, and a task that reads shared.
func (p *plan) joins(phase *Phase, number int, shared *resource.Resource, body func(task int) func(*Task) error) {
	name := func(s string) string { return fmt.Sprintf("phase %d %s", number, s) }
	own := make(map[string]*resource.Resource)
	for i, n := range p.words {
		r := fmt.Sprintf("r%d", i)
		own[r] = phase.Resource(name(r), 8*n)
	}
	for i, task := range p.system.Tasks {
		declared := phase.Task(name(task.Name))
		for _, a := range task.Accesses {
			declare := declared.Read
			if a.Mode == resource.Write {
				declare = declared.Write
			}
			declare(own[a.Resource]).Priority(a.Priority).Ahead(a.Ahead)
		}
		do := body(i)
		if how := p.tasks[i]; how.style == byStep {
			declared.Each(how.rounds, func(int) error { return do(declared) })
		} else {
			declared.Do(do)
		}
	}
	reader := phase.Task(name("reader"))
	reader.Read(shared)
	reader.Each(3, func(int) error { return nil })
}

// Nothing of a phase that is refused joins the run, and the error says why.
func TestPhaseRefused(t *testing.T) {
	foreign, err := resource.New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	deadlock, join := new(liveness.DeadlockError), new(liveness.JoinError)
	for name, c := range map[string]struct {
		declare func(rt *Runtime, p *Phase)
		in      bool // the context is the task's
		is      error
		as      any
	}{
		"deadlock": {declare: func(_ *Runtime, p *Phase) {
			r, task := p.Resource("own", 8), p.Task("x")
			task.Write(r)
			task.Write(r)
			task.Do(nothing)
		}, as: &deadlock},
		"two shared": {declare: func(rt *Runtime, p *Phase) {
			task := p.Task("x")
			task.Read(rt.Lookup("r"))
			task.Read(rt.Lookup("s"))
			task.Do(nothing)
		}, as: &join},
		"waited for": {in: true, declare: func(rt *Runtime, p *Phase) {
			task := p.Task("x")
			task.Read(rt.Lookup("r"))
			task.Do(nothing)
		}, as: &join},
		"no body":         {declare: func(_ *Runtime, p *Phase) { p.Task("x") }, is: ErrBody},
		"name of a task":  {declare: func(_ *Runtime, p *Phase) { p.Task("t").Do(nothing) }, is: ErrName},
		"name of a thing": {declare: func(_ *Runtime, p *Phase) { p.Resource("s", 8) }, is: ErrName},
		"name twice": {declare: func(_ *Runtime, p *Phase) {
			p.Resource("own", 8)
			p.Resource("own", 8)
		}, is: ErrName},
		"task twice": {declare: func(_ *Runtime, p *Phase) {
			p.Task("x").Do(nothing)
			p.Task("x").Do(nothing)
		}, is: ErrName},
		"size":    {declare: func(_ *Runtime, p *Phase) { p.Resource("own", 5) }, is: resource.ErrSize},
		"foreign": {declare: func(_ *Runtime, p *Phase) { p.Task("x").Read(foreign) }, is: ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			rt := mustNew(t, Options{})
			task := rt.Task("t")
			task.Write(rt.Resource("r", 8))
			task.Write(rt.Resource("s", 8))
			task.Do(func(task *Task) error {
				ctx := t.Context()
				if c.in {
					ctx = task.Context()
				}
				err := rt.Phase(ctx, func(p *Phase) { c.declare(rt, p) })
				if c.as != nil && !errors.As(err, c.as) || c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("%v", err)
				}
				if len(rt.tasks) != 1 || len(rt.resources) != 2 || len(rt.names) != 1 {
					t.Errorf("something has joined: %v", rt.System())
				}
				return nil
			})
			if err := rt.Run(t.Context()); err != nil {
				t.Error(err)
			}
			checkIdle(t, rt)
		})
	}
}

// A phase joins only a run that goes on, and is declared only by its function.
func TestPhaseAtTheWrongTime(t *testing.T) {
	rt := mustNew(t, Options{})
	none := func(*Phase) {}
	if err := rt.Phase(t.Context(), none); !errors.Is(err, ErrNotRunning) {
		t.Errorf("before: %v", err)
	}
	rt.Task("t").Do(func(task *Task) error {
		err := rt.Phase(task.Context(), func(p *Phase) {
			p.Task("late").Do(func(late *Task) error {
				late.Read(p.Resource("r", 8))
				return nil
			})
		})
		if !errors.Is(err, ErrPhaseOver) || !strings.Contains(err.Error(), `resource "r"`) {
			t.Errorf("late: %v", err)
		}
		ended, end := context.WithCancel(context.Background())
		end()
		if err := rt.Phase(ended, none); !errors.Is(err, context.Canceled) {
			t.Errorf("ended: %v", err)
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if err := rt.Phase(t.Context(), none); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after: %v", err)
	}
}

// A task that fails ends its phase, and not the run.
func TestPhaseFails(t *testing.T) {
	rt := mustNew(t, Options{})
	went := false
	rt.Task("t").Do(func(task *Task) error {
		err := rt.Phase(task.Context(), func(p *Phase) {
			r := p.Resource("r", 8)
			bad, other := p.Task("bad"), p.Task("other")
			bad.Write(r)
			other.Write(r)
			bad.Each(-1, func(round int) error {
				if round == 2 {
					return errPlanned
				}
				return nil
			})
			other.Do(func(other *Task) error {
				for range other.Rounds(-1) {
				}
				return nil
			})
		})
		var failed *TaskError
		if !errors.As(err, &failed) || failed.Task != "bad" || !errors.Is(err, errPlanned) {
			t.Error(err)
		}
		if task.Context().Err() != nil {
			t.Error("the run has ended too")
		}
		went = true
		return nil
	})
	if err := rt.Run(t.Context()); err != nil || !went {
		t.Error(err)
	}
	checkIdle(t, rt)
}

// If the run fails, its phases end, and Run waits for them.
func TestPhaseEndsWithTheRun(t *testing.T) {
	rt := mustNew(t, Options{})
	shared := rt.Resource("shared", 8)
	works, ended := make(chan struct{}), make(chan error, 1)
	task := rt.Task("t")
	task.Write(shared)
	task.Do(func(task *Task) error {
		for round := range task.Rounds(-1) {
			if round == 0 {
				go func() {
					ended <- rt.Phase(t.Context(), func(p *Phase) {
						reader := p.Task("reader")
						reader.Read(shared)
						reader.Each(-1, func(round int) error {
							if round == 0 {
								close(works)
							}
							return nil
						})
					})
				}()
			}
			select {
			case <-works:
				var names []string
				for _, seen := range rt.Inspect().Tasks {
					names = append(names, seen.Task)
				}
				if !slices.Equal(names, []string{"t", "reader"}) {
					t.Errorf("the tasks %v", names)
				}
				return errPlanned
			default:
			}
		}
		return nil
	})
	if err := rt.Run(t.Context()); !errors.Is(err, errPlanned) {
		t.Error(err)
	}
	if len(rt.tasks) != 1 {
		t.Error("Run has not waited for the phase")
	}
	if err := <-ended; !errors.Is(err, errPlanned) {
		t.Errorf("the phase: %v", err)
	}
	checkIdle(t, rt)
}
