package orwl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl/liveness"
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
		if len(rt.tasks) != len(nodes) || len(rt.phases) != 0 || len(rt.meeting.met) != 0 {
			t.Errorf("node %d: %d tasks, %d phases are left, %d of them meet", i, len(rt.tasks), len(rt.phases), len(rt.meeting.met))
		}
		if c := rt.meeting.chair; c != nil && c.Open() != 0 {
			t.Errorf("%d rounds are not complete", c.Open())
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
	joined := 0
	for seed := range plans(t, 10) {
		p, q := drawPlan(seed), drawPlan(seed+1<<40)
		if len(p.order()) < len(p.tasks) || len(q.order()) < len(q.tasks) {
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
	if joined == 0 {
		t.Error("no phase has joined")
	}
	t.Logf("%d phases joined", joined)
}

// What one node refuses, all refuse, and the run goes on.
func TestPhaseRefusedOnNodes(t *testing.T) {
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	deadlock := func(err error) bool { return errors.As(err, new(*liveness.DeadlockError)) }
	other := func(err error) bool { return errors.As(err, new(*NodeError)) }
	for name, c := range map[string]struct {
		declare func(p *Phase, node int)
		at      [2]func(error) bool // what the error of each node is
	}{
		"deadlock": {func(p *Phase, node int) {
			r, task := p.Resource("own", 8), p.Task("x")
			task.Write(r)
			task.Write(r)
			task.Do(nothing)
		}, [2]func(error) bool{deadlock, deadlock}},
		"name of a task": {func(p *Phase, node int) { p.Task("caller 0").Do(nothing) }, [2]func(error) bool{is(ErrName), is(ErrName)}},
		"another task":   {func(p *Phase, node int) { p.Task(fmt.Sprint("x", node)).Do(nothing) }, [2]func(error) bool{is(ErrPhaseDiffers), is(ErrPhaseDiffers)}},
		"another size":   {func(p *Phase, node int) { p.Resource("own", 8+8*node) }, [2]func(error) bool{is(ErrPhaseDiffers), is(ErrPhaseDiffers)}},
		"no body on one": {func(p *Phase, node int) {
			if task := p.Task("x"); node == 0 {
				task.Do(nothing)
			}
		}, [2]func(error) bool{other, is(ErrBody)}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := crew(t, 2)
			defer disband(t, nodes)
			errs := callers(t, nodes, Options{}, func(node int, task *Task) error {
				rt := task.rt
				var mine *resource.Resource
				err := rt.Phase(task.Context(), func(p *Phase) {
					c.declare(p, node)
					mine = p.resources["own"]
				})
				if !c.at[node](err) {
					t.Errorf("node %d: %v", node, err)
				}
				if mine != nil {
					var h resource.Place
					if err := errors.Join(h.Request(mine, resource.Read), h.Acquire(task.Context())); !errors.Is(err, resource.ErrBroken) {
						t.Errorf("a resource of the refused phase: %v", err)
					}
				}
				// The same names join afterwards.
				return rt.Phase(task.Context(), func(p *Phase) {
					x := p.Task("x").On(1)
					x.Write(p.Resource("own", 8))
					x.Each(2, func(int) error { return nil })
				})
			})
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		})
	}
}

// A node whose context ends takes its call back, and may call again. The others wait.
func TestPhaseTakenBack(t *testing.T) {
	nodes := crew(t, 3)
	defer disband(t, nodes)
	gaveUp := make(chan struct{})
	errs := callers(t, nodes, Options{}, func(node int, task *Task) error {
		phase := func(p *Phase) {
			for i := range 3 {
				x := p.Task(fmt.Sprint("x", i)).On(i)
				x.Write(task.rt.Lookup("shared"))
				x.Each(3, func(int) error { return nil })
			}
		}
		if node == 1 {
			for range 20 {
				ctx, cancel := context.WithTimeoutCause(task.Context(), time.Millisecond, errPlanned)
				if err := task.rt.Phase(ctx, phase); !errors.Is(err, errPlanned) {
					t.Errorf("it has not been called by all: %v", err)
				}
				cancel()
			}
			close(gaveUp)
		}
		if node == 2 {
			<-gaveUp
		}
		return task.rt.Phase(task.Context(), phase)
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// A context that ends at any moment: the phase joins on all nodes, or it is refused on all.
// The node that waits is told which other gave up, unless that one calls another phase then.
func TestPhaseContextEndsInTheMiddle(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	joined := [2]int{}
	errs := callers(t, nodes, Options{}, func(node int, task *Task) error {
		rt := task.rt
		for k := range 200 {
			ctx, cancel := context.WithCancelCause(task.Context())
			if node == 1 {
				timer := time.AfterFunc(time.Duration(k)*5*time.Microsecond, func() { cancel(errPlanned) })
				defer timer.Stop()
			}
			err := rt.Phase(ctx, func(p *Phase) {
				x := p.Task("x").On(k % 2)
				x.Write(rt.Lookup("shared"))
				x.Each(3, func(int) error { return nil })
			})
			cancel(nil)
			other := (*NodeError)(nil)
			switch {
			case err == nil:
				joined[node]++
			case node == 1 && errors.Is(err, errPlanned):
			case node == 0 && (errors.As(err, &other) && other.Node == 1 || errors.Is(err, ErrPhaseDiffers)):
			default:
				return err
			}
			// The nodes meet again in a phase that does nothing.
			for err = ErrPhaseDiffers; errors.Is(err, ErrPhaseDiffers); {
				err = rt.Phase(task.Context(), func(*Phase) {})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if t.Logf("%v joined", joined); joined[0] > joined[1] {
		t.Error("a phase has ended well on one node, and not on the one that gave up")
	}
}

// A node is lost after it has proposed a phase, and before it votes. All others refuse the
// phase. If the run goes on, the next one joins without that node.
func TestPhaseLosesNodeInTheMiddle(t *testing.T) {
	for _, at := range []AtLoss{EndRun, GoOn} {
		nodes := crew(t, 3)
		left := make(chan struct{})
		declare := func(on int) func(p *Phase) {
			return func(p *Phase) {
				for i, node := range []int{0, on, 1} {
					x := p.Task(fmt.Sprint("x", i)).On(node)
					x.Write(p.rt.Lookup("shared"))
					x.Each(3, func(int) error { return nil })
				}
			}
		}
		errs := callers(t, nodes, Options{AtLoss: at}, func(node int, task *Task) error {
			rt := task.rt
			if node == 2 {
				defer close(left)
				p := rt.newPhase(&run{ctx: task.Context()})
				declare(2)(p)
				whole, err := rt.admit(p)
				if err != nil {
					return err
				}
				defer whole.phases.Done()
				if _, err := rt.meeting.propose(task.Context(), p, pack.Encode(p.offer(whole))); err != nil {
					return err
				}
				rt.meeting.forget(p)
				return rt.o.Nodes.node.Close(context.Background())
			}
			err := rt.Phase(task.Context(), declare(2))
			other := (*NodeError)(nil)
			if !errors.As(err, &other) || other.Node != 2 || !errors.Is(err, resource.ErrLost) {
				t.Errorf("node %d: %v", node, err)
			}
			if at == EndRun {
				return err
			}
			<-left
			return rt.Phase(task.Context(), declare(1))
		})
		for i, err := range errs[:2] {
			if lost := errors.Is(err, resource.ErrLost); lost != (at == EndRun) || err != nil && !lost {
				t.Errorf("node %d: %v", i, err)
			}
		}
		disband(t, nodes[:2])
	}
}

// A node whose tasks have ended calls no phase: all others are told so, and so are those that
// wait.
func TestPhaseAfterANodeHasEnded(t *testing.T) {
	nodes := crew(t, 3)
	defer disband(t, nodes)
	errs := callers(t, nodes, Options{}, func(node int, task *Task) error {
		if node == 1 {
			return nil
		}
		for range 2 {
			if err := task.rt.Phase(task.Context(), func(*Phase) {}); !errors.Is(err, ErrNotRunning) {
				t.Errorf("node %d: %v", node, err)
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// A task that fails ends its phase on all nodes, and no run.
func TestPhaseFailsOnNodes(t *testing.T) {
	nodes := crew(t, 3)
	defer disband(t, nodes)
	errs := callers(t, nodes, Options{}, func(node int, task *Task) error {
		for range 2 {
			err := task.rt.Phase(task.Context(), func(p *Phase) {
				for i := range 3 {
					x := p.Task(fmt.Sprint("x", i)).On(i)
					x.Write(task.rt.Lookup("shared"))
					x.Each(-1, func(round int) error {
						if i == 1 && round == 2 {
							return errPlanned
						}
						return nil
					})
				}
			})
			failed, other := (*TaskError)(nil), (*NodeError)(nil)
			if node == 1 && (!errors.As(err, &failed) || !errors.Is(err, errPlanned)) || node != 1 && (!errors.As(err, &other) || other.Node != 1) {
				t.Errorf("node %d: %v", node, err)
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// Two phases run at once, if all nodes have called them in one order. Called in another order,
// both are refused on all nodes.
func TestPhasesAtOnce(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	begun := make(chan struct{})
	errs := callers(t, nodes, Options{}, func(node int, task *Task) error {
		rt := task.rt
		declare := func(name string) func(p *Phase) {
			return func(p *Phase) {
				x := p.Task(name).On(1)
				x.Write(p.Resource(name, 8))
				x.Each(3, func(int) error { return nil })
			}
		}
		for _, name := range []string{"a", "b"} {
			if node == 1 {
				name = map[string]string{"a": "b", "b": "a"}[name]
			}
			if err := rt.Phase(task.Context(), declare(name)); !errors.Is(err, ErrPhaseDiffers) {
				t.Errorf("node %d: %q: %v", node, name, err)
			}
		}
		// The second joins while the first runs, and frees it.
		first := make(chan error, 1)
		go func() {
			first <- rt.Phase(t.Context(), func(p *Phase) {
				x := p.Task("waits").On(0)
				in := x.Read(rt.Lookup("shared"))
				x.Do(func(x *Task) error {
					close(begun)
					for range x.Rounds(-1) {
						if Read[uint64](in).At(0) != 0 {
							return nil
						}
					}
					return nil
				})
			})
		}()
		<-begun
		err := rt.Phase(t.Context(), func(p *Phase) {
			x := p.Task("frees").On(1)
			out := x.Write(rt.Lookup("shared"))
			x.Each(1, func(int) error { Write[uint64](out)[0] = 1; return nil })
		})
		return errors.Join(err, <-first)
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}
