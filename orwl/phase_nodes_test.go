package orwl

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// callers runs a program on nodes in which one task on each node calls phases, or does what
// else call does. It returns what Run returns on each node.
func callers(t *testing.T, nodes []*Nodes, o Options, call func(node int, task *Task) error) []error {
	t.Helper()
	errs := make([]error, len(nodes))
	each(nodes, func(i int, n *Nodes) {
		o := o
		o.Nodes = n
		rt := mustNew(t, o)
		rt.Resource("shared", 8)
		for on := range nodes {
			rt.Task(fmt.Sprint("caller ", on)).On(on).Do(func(task *Task) error { return call(i, task) })
		}
		errs[i] = rt.Run(t.Context())
		if len(rt.tasks) != len(nodes) || len(rt.phases) != 0 || !rt.meeting.Idle() {
			t.Errorf("node %d: %d tasks, %d phases are left, none of them meets: %t", i, len(rt.tasks), len(rt.phases), rt.meeting.Idle())
		}
	})
	return errs
}

// Phases on several nodes: resources of their own and one of the program, tasks of both kinds
// on all nodes. When Phase returns, all of its tasks have ended.
func TestPhaseOnNodes(t *testing.T) {
	nodes := crew(t, 3)
	defer disband(t, nodes)
	errs := callers(t, nodes, Options{}, func(node int, task *Task) error {
		rt := task.rt
		for k := range 4 {
			var own *resource.Resource
			err := rt.Phase(task.Context(), func(p *Phase) {
				own = p.Resource(fmt.Sprint("sum ", k), 8)
				for i, r := range []*resource.Resource{own, rt.Lookup("shared"), own} {
					add := p.Task(fmt.Sprint("add ", i)).On((i + k) % 3)
					out := add.Write(r)
					add.Each(5, func(int) error { Write[uint64](out)[0]++; return nil })
				}
			})
			if err != nil {
				return err
			}
			for r, want := range map[*resource.Resource]uint64{own: 10, rt.Lookup("shared"): 5 * uint64(k+1)} {
				if v, err := Values[uint64](task.Context(), r); err != nil || v[0] != want {
					return fmt.Errorf("node %d: %q is %v, %v, want %d", node, r.Name(), v, err, want)
				}
			}
			// Every node has looked before the next phase writes.
			if err := rt.Phase(task.Context(), func(*Phase) {}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// TestPhasesDisturbNothing, on 2 and 3 nodes: the program and its phases compute what running
// their tasks one after another would.
func TestPhasesDisturbNothingOnNodes(t *testing.T) {
	joined, dead := 0, 0
	for seed := range plans(t, 10) {
		p, q := drawPlan(seed), drawPlan(seed+1<<40)
		if len(p.order()) < len(p.tasks) || len(q.order()) < len(q.tasks) {
			dead++
			continue
		}
		want, wantOfPhase := p.sequential(), q.sequential()
		count := 2 + int(seed%2)
		on := func(salt, i int) int { return int(mix(seed+uint64(salt)<<20+uint64(i)) % uint64(count)) }
		nodes := crew(t, count)
		seen := make([][]uint64, len(p.tasks))
		seenOfPhase := [2][][]uint64{make([][]uint64, len(q.tasks)), make([][]uint64, len(q.tasks))}
		got := make([]outcome, count)
		each(nodes, func(node int, n *Nodes) {
			rt := p.declare(t, Options{Nodes: n}, func(i int) func(*Task) error {
				return p.body(i, &seen[i], noise(seed<<8+uint64(i)), (*Task).Context)
			})
			for i, task := range rt.tasks {
				task.On(on(0, i))
			}
			begun, over := make(chan struct{}), make(chan struct{})
			for i := range count {
				rt.Task(fmt.Sprint("gate ", i)).On(i).Do(func(*Task) error { close(begun); <-over; return nil })
			}
			var all sync.WaitGroup
			all.Go(func() {
				defer close(over)
				<-begun
				for k := range 2 {
					err := rt.Phase(t.Context(), func(phase *Phase) {
						q.joins(phase, k, rt.Lookup("r0"), func(i int) func(*Task) error {
							return q.body(i, &seenOfPhase[k][i], noise(seed<<8+uint64(i)), (*Task).Context)
						})
						for i, task := range phase.tasks {
							task.On(on(1+k, i))
						}
					})
					if err != nil {
						t.Errorf("seed %d, node %d: %v", seed, node, err)
						return
					}
				}
			})
			if err := rt.Run(t.Context()); err != nil {
				t.Errorf("node %d: %v\nin %v", node, err, p)
			} else {
				got[node] = p.result(t, rt, nil)
			}
			all.Wait()
		})
		disband(t, nodes)
		for node := range got {
			if got[node].seen = seen; !reflect.DeepEqual(got[node], want) {
				t.Errorf("%d nodes, by node %d: %v, want %v\nin %v", count, node, got[node], want, p)
			}
		}
		for k := range seenOfPhase {
			if !slices.EqualFunc(seenOfPhase[k], wantOfPhase.seen, slices.Equal) {
				t.Errorf("phase %d sees %v, alone %v", k, seenOfPhase[k], wantOfPhase.seen)
			}
			joined++
		}
		if t.Failed() {
			t.Fatalf("seed %d: phase %v", seed, q)
		}
	}
	if joined == 0 && dead > few {
		t.Error("no phase has joined")
	}
	t.Logf("%d phases joined", joined)
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

// A program of many phases keeps nothing of those that have ended: not the runtime, not its
// observers, not the homes of its resources. One in ten is refused.
func TestManyPhasesOnNodes(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	observers := [2]records{{tasks: make(map[*Task]bool)}, {tasks: make(map[*Task]bool)}}
	errs := make([]error, 2)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n, Observers: []Observer{&observers[i]}})
		shared := rt.Resource("shared", 8)
		for on := range 2 {
			rt.Task(fmt.Sprint("caller ", on)).On(on).Do(func(task *Task) error {
				for k := range 500 {
					err := rt.Phase(task.Context(), func(p *Phase) {
						for on := range 2 {
							x := p.Task(fmt.Sprint("x", on)).On(on)
							x.Write(shared)
							if k%10 > 0 || on == 0 {
								x.Each(2, func(int) error { return nil })
							}
						}
					})
					if refused := errors.Is(err, ErrBody); refused != (k%10 == 0) || err != nil && !refused {
						return err
					}
				}
				return nil
			})
		}
		errs[i] = rt.Run(t.Context())
		if len(observers[i].tasks) != 1 || len(rt.tasks) != 2 || len(rt.resources) != 1 || len(rt.names) != 2 || rt.seen.Len() > 0 || !rt.meeting.Idle() {
			t.Errorf("node %d: an observer knows %d tasks, the runtime %d, %d resources, %d names, %d accesses", i,
				len(observers[i].tasks), len(rt.tasks), len(rt.resources), len(rt.names), rt.seen.Len())
		}
		if early := len(shared.Inspect().Guests()); early > 0 {
			t.Errorf("%d requests are left at the home", early)
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}
