package orwl

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// The grants of the next rounds come to another node while a round goes on.
func TestAheadOnNodes(t *testing.T) {
	const ahead, rounds = 2, 5
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(_ int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		table := rt.Resource("table", 8)
		rt.Home(table, 0)
		task, other := rt.Task("reader").On(1), rt.Task("step").On(1)
		a := task.Read(table)
		task.Ahead(ahead)
		task.Do(func(task *Task) error {
			for round := range task.Rounds(rounds) {
				want := min(ahead+1, rounds-round)
				for granted := -1; granted != want; {
					granted = 0
					for p := range a.Places() {
						if p.Held() || p.Requested() && p.Granted() {
							granted++
						}
					}
					runtime.Gosched()
				}
			}
			return nil
		})
		other.Read(table).Ahead(1)
		other.Each(rounds, func(int) error { return nil })
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
		if err := Fill(t.Context(), table, func([]uint64) {}); err != nil { // it waits if a request is left
			t.Error(err)
		}
	})
}

// A task that does fewer rounds than it has announced takes the others back, and a body that
// goes through its rounds by hand ends well by Drain.
func TestAheadEnds(t *testing.T) {
	for rounds := range 6 {
		rt := mustNew(t, Options{})
		r := rt.Resource("r", 8)
		byRounds, byHand, byStep := rt.Task("rounds"), rt.Task("hand"), rt.Task("step")
		hand := byHand.Write(r)
		for _, task := range []*Task{byRounds, byStep} {
			task.Write(r)
			task.Ahead(3)
		}
		byHand.Ahead(3)
		byRounds.Do(func(task *Task) error {
			for range task.Rounds(rounds) {
				Write[uint64](task.accesses[0])[0]++
			}
			return nil
		})
		byHand.Do(func(task *Task) error {
			for round := range rounds {
				if err := hand.Acquire(task.Context()); err != nil {
					return err
				}
				Write[uint64](hand)[0]++
				end := hand.Next
				if round+3 >= rounds {
					end = hand.Drain
				}
				if err := end(); err != nil {
					return err
				}
			}
			return nil
		})
		byStep.Each(rounds, func(int) error { Write[uint64](byStep.accesses[0])[0]++; return nil })
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkIdle(t, rt)
		if got, err := Values[uint64](t.Context(), r); err != nil || !slices.Equal(got, []uint64{3 * uint64(rounds)}) {
			t.Errorf("%d rounds: %v, %v", rounds, got, err)
		}
	}
}

// A wrong number of rounds ahead is refused, and so are different ones of a resource that is
// written. Nothing runs then.
func TestAheadMisuse(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	rt.Task("a").Write(r).Ahead(-1)
	rt.tasks[0].Do(nothing)
	if err := rt.Run(context.Background()); !errors.Is(err, handle.ErrAhead) {
		t.Error(err)
	}
	rt = mustNew(t, Options{})
	r = rt.Resource("r", 8)
	for i, name := range []string{"a", "b"} {
		task := rt.Task(name)
		task.Write(r).Ahead(i)
		task.Do(func(*Task) error { t.Error("a task runs"); return nil })
	}
	var wrong *liveness.SystemError
	if err := rt.Run(context.Background()); !errors.As(err, &wrong) || wrong.Name != "b" {
		t.Error(err)
	}
	checkIdle(t, rt)
}

// Nodes that announce different rounds ahead run different programs.
func TestOtherAhead(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		rt.Task("t").Read(rt.Resource("a", 8)).Ahead(i)
		rt.tasks[0].Do(func(*Task) error { t.Error("a task runs"); return nil })
		if err := rt.Run(t.Context()); err == nil {
			t.Errorf("node %d runs", i)
		}
	})
}

// A state shows the rounds that are announced, and a stall does not take them for
// requests of other tasks.
func TestInspectAhead(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	for _, name := range []string{"a", "b"} {
		task := rt.Task(name)
		task.Write(r).Ahead(1)
		task.Do(func(task *Task) error {
			for round := range task.Rounds(2) {
				if task.name == "a" && round == 0 {
					s := rt.Inspect().Resources[0]
					var who []string
					for _, g := range s.Queue {
						if g.Mode != resource.Write.String() || len(g.Members) != 1 {
							t.Errorf("%+v", g)
						}
						who = append(who, g.Members[0].Who)
					}
					if !slices.Equal(who, []string{"a", "b", "a", "b"}) {
						t.Errorf("%v wait for %q", who, s.Resource)
					}
				}
			}
			return nil
		})
	}
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
