package orwl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl/exact"
)

// everywhere runs a program on one node and on three, with fault pages and without.
func everywhere(t *testing.T, program func(t *testing.T, rt *Runtime)) {
	t.Helper()
	for _, count := range []int{1, 3} {
		t.Run(fmt.Sprint("nodes ", count), func(t *testing.T) {
			nodes := []*Nodes{nil}
			if count > 1 {
				nodes = crew(t, count)
				defer disband(t, nodes)
			}
			each(nodes, func(_ int, n *Nodes) { program(t, mustNew(t, Options{Nodes: n})) })
		})
	}
}

// A task reads this round's value behind all that put, and the one of the round before anywhere.
func TestReduction(t *testing.T) {
	const rounds, tasks = 20, 40 // so many need a tree
	everywhere(t, func(t *testing.T, rt *Runtime) {
		most := NewMax[int64](rt, "most").Start(-7)
		least := NewMin[float64](rt, "least")
		value := func(task, round int) int64 { return int64((task*37 + round*11) % 101) }
		of := func(round int, pick func([]int64) int64) int64 {
			var all []int64
			for i := range tasks {
				all = append(all, value(i, round))
			}
			return pick(all)
		}
		look := func(where string, round int, got, want int64) {
			if got != want {
				t.Errorf("%s, round %d: %d, want %d", where, round, got, want)
			}
		}
		before := func(round int) int64 {
			if round == 0 {
				return -7
			}
			return of(round-1, slices.Max)
		}
		for i := range tasks {
			task := rt.Task(fmt.Sprint("put ", i))
			put, low := most.Put(task), least.Put(task)
			prior := most.Before(task)
			task.Each(rounds, func(round int) error {
				put.Set(value(i, round))
				*low.New() += float64(value(i, round))
				look("a task that puts", round, prior.Value(), before(round))
				return nil
			})
		}
		task := rt.Task("behind")
		now, prior, low := most.Now(task), most.Before(task), least.Now(task)
		task.Each(rounds, func(round int) error {
			look("behind, now", round, now.Value(), of(round, slices.Max))
			look("behind, before", round, prior.Value(), before(round))
			look("behind, least", round, int64(low.Value()), of(round, slices.Min))
			return nil
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A sum has the same bits on any division of the values, and on any nodes.
func TestSum(t *testing.T) {
	values := make([]float64, 1000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = math.Ldexp(random.Float64()-.5, random.IntN(200)-100)
	}
	for _, tasks := range []int{1, 3, 50} {
		everywhere(t, func(t *testing.T, rt *Runtime) {
			sum := NewSum(rt, "sum")
			for i := range tasks {
				task := rt.Task(fmt.Sprint(i))
				put := sum.Put(task)
				task.Each(3, func(round int) error {
					put.New().AddAll(values[i*len(values)/tasks : (i+1)*len(values)/tasks])
					return nil
				})
			}
			task := rt.Task("behind")
			now := sum.Now(task)
			task.Each(3, func(round int) error {
				var want exact.Sum
				want.AddAll(values)
				if got := now.Value(); got != want.Value() {
					t.Errorf("%d tasks, round %d: %v, want %v", tasks, round, got, want.Value())
				}
				return nil
			})
			if err := rt.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// The tree of a reduction that is not associative follows from the tasks that put alone: from their order, and not from
// where they run.
func TestReductionTree(t *testing.T) {
	const tasks = 37
	type hash struct{ V, Leaves uint64 }
	node := func(into, from *hash) {
		into.V, into.Leaves = into.V*1_000_003+from.V*7+1, into.Leaves+from.Leaves
	}
	var binary func(low, high int) hash
	binary = func(low, high int) hash {
		if high-low == 1 {
			return hash{uint64(low), 1}
		}
		half := 1
		for 2*half < high-low {
			half *= 2
		}
		left, right := binary(low, low+half), binary(low+half, high)
		node(&left, &right)
		return left
	}
	everywhere(t, func(t *testing.T, rt *Runtime) {
		tree := NewReduction(rt, "tree", node, func(v *hash) hash { return *v })
		puts := make([]*Task, tasks)
		for i := range puts {
			puts[i] = rt.Task(fmt.Sprint(i)).On(i * 5 % rt.Nodes())
		}
		for i := range tasks { // declared in another order
			i = (i*11 + 5) % tasks
			put := tree.Put(puts[i])
			puts[i].Each(1, func(int) error {
				put.Set(hash{uint64(i), 1})
				return nil
			})
		}
		task := rt.Task("behind")
		now := tree.Now(task)
		task.Each(1, func(int) error {
			if got, want := now.Value(), binary(0, tasks); got != want {
				t.Errorf("%v, want %v", got, want)
			}
			return nil
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// An end ends all tasks after the same round, also those that have nothing to do with it, and the next stage has
// another one.
func TestReductionUntil(t *testing.T) {
	everywhere(t, func(t *testing.T, rt *Runtime) {
		most := NewMax[int64](rt, "most")
		r := rt.Resource("alone", 8)
		for stage, last := range []int{13, 0, 5} {
			lag := stage * 7 % 20
			most.Until(func(v int64) bool { return v >= int64(last) }, lag)
			var tasks []*Task
			declare := func(name string, body func(task *Task) func(round int) error) {
				task := rt.Task(name)
				task.Each(-1, body(task))
				tasks = append(tasks, task)
			}
			declare("first", func(task *Task) func(int) error {
				task.Write(r)
				return func(int) error { return nil }
			})
			for i := range 3 {
				declare(fmt.Sprint("put ", i), func(task *Task) func(int) error {
					put := most.Put(task)
					return func(round int) error {
						put.Set(int64(round - i))
						return nil
					}
				})
			}
			declare("behind", func(task *Task) func(int) error {
				now := most.Now(task)
				return func(round int) error {
					if now.Value() != int64(round) {
						t.Errorf("stage %d, round %d: %d", stage, round, now.Value())
					}
					return nil
				}
			})
			if err := rt.Run(t.Context()); err != nil {
				t.Error(err)
				return
			}
			for _, task := range tasks {
				if task.here() && task.Round() != int64(last+1+lag) {
					t.Errorf("stage %d: task %q has ended after %d rounds, want %d", stage, task.Name(), task.Round(), last+1+lag)
				}
			}
		}
	})
}

// The first of two ends counts, whatever the order of the reductions. Tasks are ahead as far as the shortest lag says.
func TestReductionUntilBoth(t *testing.T) {
	for _, c := range []struct {
		last   [2]int64
		lag    [2]int
		rounds int64
	}{
		{[2]int64{4, 9}, [2]int{}, 5}, {[2]int64{9, 4}, [2]int{}, 5}, {[2]int64{4, 4}, [2]int{}, 5},
		{[2]int64{4, 9}, [2]int{20, 3}, 13}, {[2]int64{9, 4}, [2]int{3, 20}, 13}, {[2]int64{9, 4}, [2]int{3, 4}, 9},
	} {
		rt := mustNew(t, Options{})
		task := rt.Task("task")
		var puts []Put[int64]
		for i, last := range c.last {
			puts = append(puts, NewMax[int64](rt, fmt.Sprint(i)).Until(func(v int64) bool { return v >= last }, c.lag[i]).Put(task))
		}
		task.Each(-1, func(round int) error {
			for _, put := range puts {
				put.Set(int64(round))
			}
			return nil
		})
		if err := rt.Run(t.Context()); err != nil || task.Round() != c.rounds {
			t.Errorf("%+v: %d rounds, %v", c, task.Round(), err)
		}
		if most := rt.run.ahead[0].Most; most != 1+min(c.lag[0], c.lag[1]) {
			t.Errorf("%+v: tasks are %d rounds ahead", c, most)
		}
	}
}

// A reduction that cannot be is refused before anything runs, with the tasks that are wrong.
func TestReductionRefused(t *testing.T) {
	forever := func(int) error { return nil }
	for name, c := range map[string]struct {
		declare func(rt *Runtime, r *Reduction[int64, int64])
		want    string
	}{
		"nobody puts": {func(rt *Runtime, r *Reduction[int64, int64]) {
			task := rt.Task("a")
			r.Before(task)
			task.Each(1, forever)
		}, `"r" has no task that puts`},
		"a goroutine puts": {func(rt *Runtime, r *Reduction[int64, int64]) {
			task := rt.Task("a")
			r.Put(task)
			task.Do(nothing)
		}, `task "a" puts, and its body is none of Each`},
		"other rounds": {func(rt *Runtime, r *Reduction[int64, int64]) {
			for i, name := range []string{"a", "b"} {
				task := rt.Task(name)
				r.Put(task)
				task.Each(1+i, forever)
			}
		}, `task "b" has 2 rounds, and task "a" 1`},
		"now before a put": {func(rt *Runtime, r *Reduction[int64, int64]) {
			for _, name := range []string{"a", "b"} {
				task := rt.Task(name)
				if name == "a" {
					r.Now(task)
				} else {
					r.Put(task)
				}
				task.Each(1, forever)
			}
		}, `task "a" reads this round's value, and task "b" puts behind it`},
		"put and read now": {func(rt *Runtime, r *Reduction[int64, int64]) {
			task := rt.Task("a")
			r.Put(task)
			r.Now(task)
			task.Each(1, forever)
		}, `task "a" reads this round's value, and task "a" puts behind it`},
		"a goroutine reads": {func(rt *Runtime, r *Reduction[int64, int64]) {
			task := rt.Task("a")
			r.Put(task)
			task.Each(1, forever)
			task = rt.Task("b")
			r.Before(task)
			task.Do(nothing)
		}, `task "b" reads it, and its body is none of Each`},
		"nobody puts, and it ends the run": {func(rt *Runtime, r *Reduction[int64, int64]) {
			r.Until(func(int64) bool { return true }, 0)
		}, `"r" has no task that puts`},
		"a name that is taken": {func(rt *Runtime, r *Reduction[int64, int64]) {
			task := rt.Task("a")
			NewSum(rt, "r").Put(task)
			task.Each(1, forever)
		}, `"r"`},
		"no end": {func(rt *Runtime, r *Reduction[int64, int64]) {
			task := rt.Task("a")
			r.Put(task)
			task.Each(-1, forever)
		}, `have no last round`},
		"an end for a goroutine": {func(rt *Runtime, r *Reduction[int64, int64]) {
			task := rt.Task("a")
			r.Until(func(int64) bool { return true }, 0).Put(task)
			task.Each(-1, forever)
			rt.Task("b").Do(nothing)
		}, `ends the run, and the body of task "b" is none of Each`},
	} {
		rt := mustNew(t, Options{})
		c.declare(rt, NewMax[int64](rt, "r"))
		if err := rt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A run of no rounds has no values, and ends. Rounds that the tasks have end a run whose reduction never does.
func TestReductionEndsAnyway(t *testing.T) {
	for _, rounds := range []int{0, 1, 7} {
		for _, ends := range []bool{false, true} {
			rt := mustNew(t, Options{})
			r := NewMax[int64](rt, "r")
			if ends {
				r.Until(func(int64) bool { return false }, 0)
			}
			task := rt.Task("a")
			put := r.Put(task)
			task.Each(rounds, func(round int) error {
				put.Set(int64(round))
				return nil
			})
			if err := rt.Run(t.Context()); err != nil || task.Round() != int64(rounds) {
				t.Errorf("%d rounds: the task has had %d, %v", rounds, task.Round(), err)
			}
		}
	}
}

// A reduction belongs to the runs whose tasks use it. A run that is refused, since another one goes on, changes nothing.
func TestReductionOfStages(t *testing.T) {
	rt := mustNew(t, Options{})
	first := rt.Task("first")
	sum := NewSum(rt, "sum")
	put := sum.Put(first)
	first.Each(3, func(int) error {
		put.New().Add(1)
		if err := rt.Run(t.Context()); err == nil {
			t.Error("a run in a run is no error")
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := rt.Task("second")
	second.Each(2, func(int) error { return nil })
	if err := rt.Run(t.Context()); err != nil || second.Round() != 2 {
		t.Errorf("a stage without the reduction: %v", err)
	}
}

// A reduction ends the run, however few rounds the tasks of another one have.
func TestReductionOfFewRounds(t *testing.T) {
	for _, order := range [][]int{{3, 9}, {9, 3}, {-1, 3}, {3, -1}} {
		rt := mustNew(t, Options{})
		var tasks []*Task
		for i, rounds := range order {
			task := rt.Task(fmt.Sprint("task ", i))
			put := NewMax[int64](rt, fmt.Sprint("end ", i)).Until(func(v int64) bool { return v == 5 }, 0).Put(task)
			task.Each(rounds, func(round int) error {
				put.Set(int64(round))
				return nil
			})
			tasks = append(tasks, task)
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
		for i, rounds := range order {
			if want := min(uint(rounds), 6); tasks[i].Round() != int64(want) {
				t.Errorf("%v: task %d has had %d rounds, want %d", order, i, tasks[i].Round(), want)
			}
		}
	}
}
