package orwl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// If one node refuses a phase, all refuse it, and the run goes on.
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
		for {
			// The last call that node 1 has taken back may meet the call of node 2 under way.
			err := task.rt.Phase(task.Context(), phase)
			if other := (*NodeError)(nil); node == 1 || !errors.As(err, &other) || other.Node != 1 {
				return err
			}
		}
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

// A node is lost after it has proposed a phase, and before it votes: node 0, which gathers the
// votes, or another one. All others refuse the phase. If the run goes on, the next ones join
// without that node.
func TestPhaseLosesNodeInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		at   AtLoss
		lost int
	}{{EndRun, 2}, {GoOn, 2}, {EndRun, 0}, {GoOn, 0}} {
		nodes := crew(t, 3)
		left := make(chan struct{})
		others := slices.DeleteFunc([]int{0, 1, 2}, func(node int) bool { return node == c.lost })
		declare := func(name string, on int) func(p *Phase) {
			return func(p *Phase) {
				own := p.Resource(name, 8)
				for i, node := range []int{others[0], on, others[1]} {
					x := p.Task(fmt.Sprint("x", i)).On(node)
					out := x.Write(own)
					x.Each(3, func(int) error { Write[uint64](out)[0]++; return nil })
				}
			}
		}
		errs := callers(t, nodes, Options{AtLoss: c.at}, func(node int, task *Task) error {
			rt := task.rt
			if node == c.lost {
				defer close(left)
				p := rt.newPhase(&run{ctx: task.Context()})
				declare("refused", c.lost)(p)
				whole, err := rt.admit(p)
				if err != nil {
					return err
				}
				defer whole.phases.Done()
				if _, err := rt.meeting.Propose(task.Context(), p.call, p.offer(whole).Encode()); err != nil {
					return err
				}
				rt.meeting.Forget(p.call)
				return rt.o.Nodes.node.Close(context.Background())
			}
			err := rt.Phase(task.Context(), declare("refused", c.lost))
			other := (*NodeError)(nil)
			if !errors.As(err, &other) || other.Node != c.lost || !errors.Is(err, resource.ErrLost) {
				t.Errorf("node %d: %v", node, err)
			}
			if c.at == EndRun {
				return err
			}
			<-left
			for k := range 3 {
				name := fmt.Sprint("joins ", k)
				if err := rt.Phase(task.Context(), declare(name, others[1])); err != nil {
					return err
				}
				if v, err := Values[uint64](task.Context(), rt.Lookup(name)); err != nil || v[0] != 9 {
					return fmt.Errorf("node %d: %q is %v, %v, want 9", node, name, v, err)
				}
				// Every node has looked before the home may end.
				if err := rt.Phase(task.Context(), func(*Phase) {}); err != nil {
					return err
				}
			}
			return nil
		})
		for _, i := range others {
			if lost := errors.Is(errs[i], resource.ErrLost); lost != (c.at == EndRun) || errs[i] != nil && !lost {
				t.Errorf("%+v: node %d: %v", c, i, errs[i])
			}
		}
		disband(t, []*Nodes{nodes[others[0]], nodes[others[1]]})
	}
}

// A node that refuses a phase because it has heard of a loss says which node is lost, to those that
// have not heard of it. For any other reason it has given up.
func TestPhaseRefusedByLoss(t *testing.T) {
	lost := &NodeError{Node: 2, Text: "silence", Lost: true}
	for _, c := range []struct {
		why  error
		node int
		lost bool
	}{{fmt.Errorf("the run ends: %w", lost), 2, true}, {errPlanned, 0, false}, {&NodeError{Node: 1, Text: "a task failed"}, 0, false}} {
		if got := new(Nodes).gaveUp(c.why); got.Node != c.node || got.Lost != c.lost {
			t.Errorf("given up for %v, it says %+v", c.why, got)
		}
	}
}

// Node 0 is lost at each moment of a phase that needs it not: while others have called the phase
// and it has not, or while tasks of the phase run. The phase ends well on the nodes that are left.
func TestPhaseGoesOnWithoutNode0(t *testing.T) {
	for _, calls := range []bool{false, true} {
		nodes := crew(t, 3)
		gone := make(chan struct{})
		errs := callers(t, nodes, Options{AtLoss: GoOn}, func(node int, task *Task) error {
			rt := task.rt
			declare := func(p *Phase) {
				own := p.Resource("own", 8)
				for on := 1; on <= 2; on++ {
					x := p.Task(fmt.Sprint("x", on)).On(on)
					out := x.Write(own)
					x.Do(func(x *Task) error {
						for range x.Rounds(3) {
							Write[uint64](out)[0]++
							if calls {
								<-gone
							}
						}
						return nil
					})
				}
			}
			if node > 0 {
				if err := rt.Phase(task.Context(), declare); err != nil {
					return err
				}
				v, err := Values[uint64](task.Context(), rt.Lookup("own"))
				if err != nil || v[0] != 6 {
					return fmt.Errorf("node %d: %v, %v, want 6", node, v, err)
				}
				return rt.Phase(task.Context(), func(*Phase) {}) // every node has looked
			}
			if calls {
				p := rt.newPhase(&run{ctx: task.Context()})
				declare(p)
				whole, err := rt.admit(p)
				if err == nil {
					defer whole.phases.Done()
					err = p.join(whole)
				}
				if err != nil {
					return err
				}
				defer close(gone)
				defer rt.dismiss(p)
				defer rt.meeting.Forget(p.call)
			}
			return rt.o.Nodes.node.Close(context.Background())
		})
		for i, err := range errs[1:] {
			if err != nil {
				t.Errorf("node 0 has called %t: node %d: %v", calls, i+1, err)
			}
		}
		disband(t, nodes[1:])
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
