package orwl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// stages is how many runs of a plan follow each other in tests.
const stages = 3

// inStages is what a plan computes that runs several times, each from what the one before has left.
func (p *randomProgram) inStages() outcome {
	o := p.sequential()
	for range stages - 1 {
		o = p.goesOn(o)
	}
	return o
}

// Random programs run several times on the same resources, and compute what running their tasks one
// after another would.
func TestStages(t *testing.T) {
	ran := 0
	for seed := range plans(t, 2) {
		p := drawPlan(seed)
		if len(p.order()) < len(p.tasks) {
			continue
		}
		seen := make([][]uint64, len(p.tasks))
		body := func(i int) func(*Task, int) error {
			return p.body(i, &seen[i], noise(seed<<8+uint64(i)))
		}
		rt := p.declare(t, Options{}, body)
		for k := range stages {
			if k > 0 {
				p.tasksOf(rt, body)
			}
			if err := rt.Run(t.Context()); err != nil {
				t.Fatalf("stage %d: %v\nin %v", k, err, p)
			}
			checkIdle(t, rt)
		}
		if got, want := p.result(t, rt, seen), p.inStages(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v\nin %v", got, want, p)
		}
		ran++
	}
	if ran == 0 {
		t.Error("no program has run")
	}
}

// TestStages, on 2 and 3 nodes. Each stage runs its tasks on other nodes, and one node or another looks
// at a resource between the stages.
func TestStagesOnNodes(t *testing.T) {
	ran, dead := 0, 0
	for seed := range plans(t, 10) {
		p := drawPlan(seed)
		if len(p.order()) < len(p.tasks) {
			dead++
			continue
		}
		want, count := p.inStages(), 2+int(seed%2)
		nodes := crew(t, count)
		seen := make([][]uint64, len(p.tasks))
		got := make([]outcome, count)
		each(nodes, func(node int, n *Nodes) {
			body := func(i int) func(*Task, int) error {
				return p.body(i, &seen[i], noise(seed<<8+uint64(i)))
			}
			rt := p.declare(t, Options{Nodes: n}, body)
			for k := range stages {
				if k > 0 {
					p.tasksOf(rt, body)
				}
				for i, task := range rt.tasks {
					task.On(int(mix(seed+uint64(k)<<20+uint64(i)) % uint64(count)))
				}
				if err := rt.Run(t.Context()); err != nil {
					t.Errorf("node %d, stage %d: %v\nin %v", node, k, err, p)
					return
				}
				if mix(seed+uint64(node)<<30+uint64(k))%3 == 0 {
					if _, err := Values[uint64](t.Context(), rt.Lookup("r0")); err != nil {
						t.Errorf("node %d, after stage %d: %v", node, k, err)
					}
				}
			}
			got[node] = p.result(t, rt, nil)
		})
		disband(t, nodes)
		p.agree(t, got, seen, want)
		if t.Failed() {
			t.FailNow()
		}
		ran++
	}
	if ran == 0 && dead > few {
		t.Error("no program has run")
	}
}

// A stage may have other resources and other tasks than the one before, which may have their names.
func TestStagesDiffer(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(_ int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		total := rt.Resource("total", 8)
		rt.Home(total, 1)
		for k := range 4 {
			own := rt.Resource(fmt.Sprint("sum ", k), 8)
			for i, r := range []*resource.Resource{own, total, own} {
				add := rt.Task(fmt.Sprint("add ", i)).On((i + k) % 2)
				out := add.Write(r)
				add.Each(5, func(int) error { Write[uint64](out)[0]++; return nil })
			}
			if err := rt.Run(t.Context()); err != nil {
				t.Error(err)
				return
			}
			for r, want := range map[*resource.Resource]uint64{own: 10, total: 5 * uint64(k+1)} {
				if v, err := Values[uint64](t.Context(), r); err != nil || v[0] != want {
					t.Errorf("stage %d: %q is %v, %v, want %d", k, r.Name(), v, err, want)
				}
			}
		}
	})
}

// Nothing of a stage that would deadlock starts. Every later run has the same error.
func TestStageRefused(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err) // a stage without tasks
	}
	task := rt.Task("x")
	task.Write(r)
	task.Write(r)
	task.Each(1, func(int) error { t.Error("it runs"); return nil })
	deadlock := new(liveness.DeadlockError)
	if err := rt.Run(t.Context()); !errors.As(err, &deadlock) {
		t.Errorf("%v", err)
	}
	rt.Task("y").Do(nothing)
	if err := rt.Run(t.Context()); !errors.As(err, &deadlock) {
		t.Errorf("then: %v", err)
	}
	checkIdle(t, rt)
}

// A run settles what it has used: its tasks take no declaration any more, and its resources no home,
// or snapshots.
func TestStageIsOver(t *testing.T) {
	for what, declare := range map[string]func(rt *Runtime, r *resource.Resource, old *Task){
		"an access": func(_ *Runtime, r *resource.Resource, old *Task) { old.Read(r) },
		"a body":    func(_ *Runtime, _ *resource.Resource, old *Task) { old.Do(nothing) },
		"a node":    func(_ *Runtime, _ *resource.Resource, old *Task) { old.On(0) },
		"a home":    func(rt *Runtime, r *resource.Resource, _ *Task) { rt.Home(r, 0) },
		"snapshots": func(rt *Runtime, r *resource.Resource, _ *Task) { rt.Snapshots(r) },
	} {
		rt := mustNew(t, Options{})
		r, old := rt.Resource("r", 8), rt.Task("t")
		old.Write(r)
		old.Each(1, func(int) error { return nil })
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		declare(rt, r, old)
		if err := rt.Run(t.Context()); !errors.Is(err, errStarted) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A runtime runs once at a time, and takes no declaration meanwhile.
func TestRunWhileItRuns(t *testing.T) {
	rt := mustNew(t, Options{})
	rt.Task("t").Do(func(*Task) error {
		if err := rt.Run(t.Context()); !errors.Is(err, errStarted) {
			t.Errorf("a second run: %v", err)
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// A run that fails is the last one.
func TestStageFails(t *testing.T) {
	rt := mustNew(t, Options{})
	bad := rt.Task("bad")
	bad.Write(rt.Resource("r", 8))
	bad.Each(5, func(round int) error {
		if round == 2 {
			return errPlanned
		}
		return nil
	})
	for range 2 {
		var failed *taskError
		if err := rt.Run(t.Context()); !errors.As(err, &failed) || failed.Task != "bad" || !errors.Is(err, errPlanned) {
			t.Error(err)
		}
	}
	checkIdle(t, rt)
}

// records is an observer that keeps what it is told until it is told to forget.
type records struct {
	mu    sync.Mutex
	tasks map[*Task]bool
}

func (o *records) Observe(e Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e.Kind {
	case Declared, Began:
		o.tasks[e.Task] = true
	case Forgotten:
		delete(o.tasks, e.Task)
	}
}

// A program of many stages keeps nothing of those that have ended: not the runtime, not its
// observers, not the homes of its resources.
func TestManyStagesOnNodes(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	observers := [2]records{{tasks: make(map[*Task]bool)}, {tasks: make(map[*Task]bool)}}
	errs := make([]error, 2)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n, Observers: []Observer{&observers[i]}})
		shared := rt.Resource("shared", 8)
		for range 300 {
			for on := range 2 {
				x := rt.Task(fmt.Sprint("x", on)).On(on)
				x.Write(shared)
				x.Each(2, func(int) error { return nil })
			}
			if errs[i] = rt.Run(t.Context()); errs[i] != nil {
				return
			}
		}
		if len(observers[i].tasks) != 1 || len(rt.tasks) != 2 || len(rt.resources) != 1 || len(rt.names) != 0 || rt.seen.Len() > 2 {
			t.Errorf("node %d: an observer knows %d tasks, the runtime %d, %d resources, %d names, %d accesses", i,
				len(observers[i].tasks), len(rt.tasks), len(rt.resources), len(rt.names), rt.seen.Len())
		}
		if early := len(core(shared).Inspect().Guests()); early > 0 {
			t.Errorf("%d requests are left at the home", early)
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// A report shows the tasks of the stage that runs, or has run.
func TestInspectStages(t *testing.T) {
	rt := mustNew(t, Options{})
	for _, name := range []string{"a", "b"} {
		rt.Task(name).Do(func(*Task) error {
			var names []string
			for _, seen := range rt.Inspect().Tasks {
				names = append(names, seen.Task)
			}
			if !slices.Equal(names, []string{name}) {
				t.Errorf("the tasks %v, want %s", names, name)
			}
			return nil
		})
		if err := rt.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if s := rt.Inspect(); len(s.Tasks) != 1 || s.Tasks[0].Task != name {
			t.Errorf("after the run: %v", s)
		}
	}
}
