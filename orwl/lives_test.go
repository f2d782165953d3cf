package orwl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/internal/lives"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/resource"
)

// runOn runs a program on so many nodes of this process, and returns how Run has ended on each.
func runOn(count int, o Options, program func(ctx context.Context, node int, rt *Runtime) error) []error {
	errs := make([]error, count)
	address := make(chan string, 1)
	start := func(i int, p launch.Place) {
		o := o
		p.Node, p.Nodes, p.Listen = i, count, "127.0.0.1:0"
		if o.Log == nil {
			o.Log = silent
		}
		o.Join = JoinOptions{Place: &p, Lease: time.Minute, Log: o.Log}
		errs[i] = Run(context.Background(), o, func(ctx context.Context, rt *Runtime) error { return program(ctx, i, rt) })
	}
	if count == 1 {
		start(0, launch.Place{})
		return errs
	}
	var all sync.WaitGroup
	all.Go(func() { start(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
	root := <-address
	for i := 1; i < count; i++ {
		all.Go(func() { start(i, launch.Place{Root: root}) })
	}
	all.Wait()
	return errs
}

// chain is a program of some tasks. Each has a number, and adds its neighbours' numbers to it. All of them fold their numbers
// into one resource. Some end early.
type chain struct {
	tasks, rounds int
	ends          map[int]int // by task: the round in which it calls Last, counted from 1
	on            int         // so many tasks are on nodes that the program says, one on each
	name          string      // begins the names of the resources
	declared      bool        // the tasks have no last round, and a reduction ends them after as many
}

func (c chain) mix(task, round int, left, own, right uint64) uint64 {
	return own*31 + left*7 + right + uint64(task*1000+round)
}

// want is what the numbers are in the end, and what all have folded.
func (c chain) want() (numbers []uint64, folded uint64) {
	numbers = make([]uint64, c.tasks)
	over := make([]bool, c.tasks)
	for round := range c.rounds {
		for i := range numbers {
			if over[i] {
				continue
			}
			numbers[i] = c.mix(i, round, numbers[(i+c.tasks-1)%c.tasks], numbers[i], numbers[(i+1)%c.tasks])
			folded = folded*3 + numbers[i]
			over[i] = c.ends[i] == round+1
		}
	}
	return numbers, folded
}

// declare declares the tasks. during is called in each body.
func (c chain) declare(rt *Runtime, during func(task, round int) error) (numbers []*resource.Resource, folded *resource.Resource) {
	folded = Array[uint64](rt, c.name+"folded", 1)
	rounds := c.rounds
	if c.declared {
		rounds = -1
		lag := min(c.rounds-1, 11)
		r := NewMax[int64](rt, c.name+"rounds").Until(func(round int64) bool { return round == int64(c.rounds-1-lag) }, lag)
		first := rt.Task("counts")
		put := r.Put(first)
		first.Each(-1, func(round int) error {
			put.Set(int64(round))
			return nil
		})
	}
	for i := range c.tasks {
		numbers = append(numbers, Array[uint64](rt, fmt.Sprint(c.name, "number ", i), 1))
	}
	for i := range c.tasks {
		t := rt.Task(fmt.Sprint("task ", i))
		if i < c.on {
			t.On(i)
			rt.Home(numbers[i], (i+1)%c.on)
		}
		left, right := Reads[uint64](t, numbers[(i+c.tasks-1)%c.tasks]), Reads[uint64](t, numbers[(i+1)%c.tasks])
		own, all := Writes[uint64](t, numbers[i]), Writes[uint64](t, folded)
		t.Each(rounds, func(round int) error {
			if err := during(i, round); err != nil {
				return err
			}
			v := c.mix(i, round, left.View().At(0), own.Slice()[0], right.View().At(0))
			own.Slice()[0] = v
			all.Slice()[0] = all.Slice()[0]*3 + v
			if c.ends[i] == round+1 {
				t.Last()
			}
			return nil
		})
	}
	return numbers, folded
}

// check reports whether the resources hold what they should.
func (c chain) check(ctx context.Context, numbers []*resource.Resource, folded *resource.Resource) error {
	want, all := c.want()
	for i, r := range numbers {
		got, err := Values[uint64](ctx, r)
		if err != nil || got[0] != want[i] {
			return fmt.Errorf("task %d: %v, %w, want %d", i, got, err, want[i])
		}
	}
	got, err := Values[uint64](ctx, folded)
	if err != nil || got[0] != all {
		return fmt.Errorf("folded: %v, %w, want %d", got, err, all)
	}
	return nil
}

// busy keeps a processor busy for some time.
func busy(n int) {
	x := uint64(1)
	for i := range n {
		x = x*31 + uint64(i)
	}
	worked.Store(x)
}

// worked is what busy has found.
var worked atomic.Uint64

var errDies = errors.New("this node dies")

// TestLives has a node leave in the middle of a run. The others go on, and end with the bits of an undisturbed run.
func TestLives(t *testing.T) {
	c := chain{tasks: 7, rounds: 300, ends: map[int]int{3: 10, 5: 150, 6: 299}}
	for _, nodes := range []int{2, 3} {
		for victim := range nodes {
			t.Run(fmt.Sprint(victim, " of ", nodes), func(t *testing.T) {
				t.Parallel()
				c := c
				c.on = nodes
				lives := make([]int, nodes)
				errs := runOn(nodes, Options{Survive: Survive{Interval: time.Millisecond}}, func(ctx context.Context, node int, rt *Runtime) error {
					lives[node]++
					numbers, folded := c.declare(rt, func(task, round int) error {
						if node == victim && round >= 200 {
							return errors.Join(errDies, rt.o.Nodes.network.Close(context.Background()))
						}
						busy(20_000)
						return nil
					})
					if err := rt.Run(ctx); err != nil {
						return err
					}
					return c.check(ctx, numbers, folded)
				})
				for i, err := range errs {
					if i == victim {
						if !errors.Is(err, errDies) {
							t.Errorf("node %d: %v, want that it dies", i, err)
						}
					} else if err != nil {
						t.Errorf("node %d: %v", i, err)
					} else if lives[i] != 2 {
						t.Errorf("node %d has had %d lives, want 2", i, lives[i])
					}
				}
			})
		}
	}
}

// TestLivesOfNoTasks runs a program without tasks, so no node has a record for the cut at its end. It ends all the same.
func TestLivesOfNoTasks(t *testing.T) {
	t.Parallel()
	for node, err := range runOn(2, Options{Survive: Survive{Interval: time.Nanosecond}}, func(ctx context.Context, _ int, rt *Runtime) error {
		return rt.Run(ctx)
	}) {
		if err != nil {
			t.Errorf("node %d: %v", node, err)
		}
	}
}

// TestLeaves has a node asked to leave, as by SIGTERM. The others go on from a cut without it, and no node has an error.
func TestLeaves(t *testing.T) {
	c := chain{tasks: 7, rounds: 300, ends: map[int]int{3: 10, 5: 150, 6: 299}}
	for _, nodes := range []int{2, 3} {
		for leaver := range nodes {
			t.Run(fmt.Sprint(leaver, " of ", nodes), func(t *testing.T) {
				t.Parallel()
				c := c
				c.on = nodes
				lives, ended := make([]int, nodes), make([]bool, nodes)
				errs := runOn(nodes, Options{Survive: Survive{Interval: time.Hour}}, func(ctx context.Context, node int, rt *Runtime) error {
					lives[node]++
					numbers, folded := c.declare(rt, func(task, round int) error {
						if node == leaver && round == 50 {
							rt.o.Nodes.survival.leaves.Store(true)
						}
						busy(50_000)
						return nil
					})
					if err := rt.Run(ctx); err != nil {
						return err
					}
					ended[node] = true
					return c.check(ctx, numbers, folded)
				})
				for i, err := range errs {
					if err != nil || ended[i] == (i == leaver) || i != leaver && lives[i] != 2 {
						t.Errorf("node %d has had %d lives, and ended %v: %v", i, lives[i], ended[i], err)
					}
				}
			})
		}
	}
}

// TestLeavesOfStages has a node asked to leave in one of several short runs. It leaves at the end of a run, if there is no cut before. If that end comes
// when a cut is just whole, the node has the only copy of its part of the end: it stays for another life, and hands the part over.
func TestLeavesOfStages(t *testing.T) {
	t.Parallel()
	const nodes, leaver = 3, 1
	lives, ended := make([]int, nodes), make([]bool, nodes)
	errs := runOn(nodes, Options{Survive: Survive{Interval: time.Hour}}, func(ctx context.Context, node int, rt *Runtime) error {
		lives[node]++
		for stage := range 6 {
			c := chain{tasks: 4, rounds: 8, name: fmt.Sprint(stage, " ")}
			numbers, folded := c.declare(rt, func(task, round int) error {
				if node == leaver && stage == 1 {
					rt.o.Nodes.survival.leaves.Store(true)
				}
				return nil
			})
			if err := rt.Run(ctx); err != nil {
				return err
			}
			if err := c.check(ctx, numbers, folded); err != nil {
				return err
			}
		}
		ended[node] = true
		return nil
	})
	for i, err := range errs {
		if err != nil || ended[i] == (i == leaver) || i != leaver && (lives[i] < 2 || lives[i] > 3) {
			t.Errorf("node %d has had %d lives, and ended %v: %v", i, lives[i], ended[i], err)
		}
	}
}

// TestAllLeave has all nodes asked to leave. The run ends, and says why.
func TestAllLeave(t *testing.T) {
	errs := runOn(3, Options{Survive: Survive{Interval: time.Hour}}, func(ctx context.Context, node int, rt *Runtime) error {
		c := chain{tasks: 5, rounds: math.MaxInt32, on: 3}
		c.declare(rt, func(task, round int) error {
			rt.o.Nodes.survival.leaves.Store(round >= 20)
			return nil
		})
		return rt.Run(ctx)
	})
	for i, err := range errs {
		if !errors.Is(err, errAllLeave) {
			t.Errorf("node %d: %v, want that all were asked to leave", i, err)
		}
	}
}

// TestComes has a node come while two others run. It is in the next life, which begins from a cut.
func TestComes(t *testing.T) {
	t.Parallel()
	const count = 3
	c := chain{tasks: 7, rounds: 400, ends: map[int]int{3: 10, 5: 150, 6: 299}}
	addresses := make(chan [2]string, count)
	come := make(chan struct{})
	comes := sync.OnceFunc(func() { close(come) })
	lives := make([]int, count)
	var all sync.WaitGroup
	start := func(i int, p launch.Place) {
		p.Node, p.Nodes, p.Begin, p.Listen = i, count, count-1, "127.0.0.1:0"
		p.Report = func(a string) error { addresses <- [2]string{fmt.Sprint(i), a}; return nil }
		all.Go(func() {
			o := Options{Log: silent, Join: JoinOptions{Place: &p, Lease: time.Minute, Log: silent}, Survive: Survive{Interval: time.Hour}}
			err := Run(t.Context(), o, func(ctx context.Context, rt *Runtime) error {
				lives[i]++
				numbers, folded := c.declare(rt, func(task, round int) error {
					if round == 50 {
						comes()
					}
					for i == 0 && round == 60 && lives[i] == 1 && !rt.o.Nodes.node.others() { // until the third node knocks
						<-time.After(time.Millisecond)
					}
					if rt.Nodes() < count { // so that the cut comes before the end
						<-time.After(2 * time.Millisecond)
					}
					return nil
				})
				if err := rt.Run(ctx); err != nil {
					return err
				}
				if rt.Nodes() != count {
					return fmt.Errorf("the last life has %d nodes", rt.Nodes())
				}
				return c.check(ctx, numbers, folded)
			})
			if err != nil || lives[i] != 1 && i == count-1 || lives[i] != 2 && i < count-1 {
				t.Errorf("node %d has had %d lives: %v", i, lives[i], err)
			}
		})
	}
	start(0, launch.Place{})
	root := <-addresses
	start(1, launch.Place{Root: root[1]})
	<-come
	start(2, launch.Place{Root: root[1], Late: true, Peers: []string{root[1], (<-addresses)[1], ""}})
	all.Wait()
}

// TestLivesOfStages has a node leave in the second run of a runtime. The others do that run again, behind the end of the first.
func TestLivesOfStages(t *testing.T) {
	first, second := chain{tasks: 5, rounds: 60}, chain{tasks: 4, rounds: 50}
	errs := runOn(3, Options{Survive: Survive{Interval: time.Millisecond}}, func(ctx context.Context, node int, rt *Runtime) error {
		numbers, folded := first.declare(rt, func(int, int) error { busy(20_000); return nil })
		if err := rt.Run(ctx); err != nil {
			return err
		}
		if err := first.check(ctx, numbers, folded); err != nil {
			return err
		}
		for i, r := range numbers[:second.tasks] {
			task := rt.Task(fmt.Sprint("more ", i))
			out := Writes[uint64](task, r)
			task.Each(second.rounds, func(round int) error {
				if node == 1 && round == 25 {
					return errors.Join(errDies, rt.o.Nodes.network.Close(context.Background()))
				}
				out.Slice()[0]++
				return nil
			})
		}
		if err := rt.Run(ctx); err != nil {
			return err
		}
		want, _ := first.want()
		for i, r := range numbers[:second.tasks] {
			if got, err := Values[uint64](ctx, r); err != nil || got[0] != want[i]+uint64(second.rounds) {
				return fmt.Errorf("task %d: %v, %w, want %d", i, got, err, want[i]+uint64(second.rounds))
			}
		}
		return nil
	})
	for i, err := range errs {
		if is := errors.Is(err, errDies); is != (i == 1) || err != nil && !is {
			t.Errorf("node %d: %v", i, err)
		}
	}
}

// TestMortal has a node leave a program that no cut holds. It ends on all nodes, and says why.
func TestMortal(t *testing.T) {
	errs := runOn(2, Options{}, func(ctx context.Context, node int, rt *Runtime) error {
		r := Array[uint64](rt, "r", 1)
		for i := range 2 {
			task := rt.Task(fmt.Sprint("task ", i)).On(i)
			task.Write(r)
			task.Each(100, func(round int) error {
				if node == 1 && round == 50 {
					return errors.Join(errDies, rt.o.Nodes.network.Close(context.Background()))
				}
				return nil
			})
		}
		rt.Task("outside").Do(func(t *Task) error { <-t.Context().Done(); return nil })
		err := rt.Run(ctx)
		if said := rt.Inspect().Life.Mortal; !strings.Contains(said, `task "outside"`) {
			t.Errorf("the page says %q, want which task ends the run", said)
		}
		return err
	})
	if err := errs[0]; !errors.Is(err, errMortal) || !errors.Is(err, resource.ErrLost) {
		t.Errorf("%v, want that node 1 is lost, and why this ends the run", err)
	}
}

// TestOtherProgram has the second life declare another program. The run ends, and names the difference.
func TestOtherProgram(t *testing.T) {
	lives := make([]int, 2)
	errs := runOn(2, Options{}, func(ctx context.Context, node int, rt *Runtime) error {
		lives[node]++
		chain{tasks: 2 + lives[node], rounds: 40}.declare(rt, func(_, round int) error {
			if node == 1 && round == 20 {
				return errors.Join(errDies, rt.o.Nodes.network.Close(context.Background()))
			}
			return nil
		})
		return rt.Run(ctx)
	})
	if err := errs[0]; err == nil || !strings.Contains(err.Error(), `the difference begins with resource "number 3"`) {
		t.Errorf("%v, want the resource that the first life has not declared", err)
	}
}

// TestCutsOfStages has a node leave in a later run of a runtime. The others begin no run that had ended again: no body runs there.
func TestCutsOfStages(t *testing.T) {
	t.Parallel()
	const stages, last = 5, 4
	for _, nodes := range []int{2, 3} {
		var again, goneOn atomic.Int64
		lives := make([]int, nodes)
		errs := runOn(nodes, Options{Survive: Survive{Interval: 100 * time.Microsecond}}, func(ctx context.Context, node int, rt *Runtime) error {
			lives[node]++
			sum := uint64(0)
			for stage := range stages {
				c := chain{tasks: 3 + stage, rounds: 20 * (stage + 1), name: fmt.Sprint(sum, " ")} // the declaration of a stage follows from the one before
				numbers, folded := c.declare(rt, func(task, round int) error {
					busy(20_000)
					switch {
					case lives[node] > 1 && stage < last:
						again.Add(1)
					case lives[node] > 1 && round > 1:
						goneOn.Add(1)
					case node == 1 && stage == last && round == 90:
						return errors.Join(errDies, rt.o.Nodes.network.Close(context.Background()))
					}
					return nil
				})
				if err := rt.Run(ctx); err != nil {
					return err
				}
				if err := c.check(ctx, numbers, folded); err != nil {
					return err
				}
				all, err := Values[uint64](ctx, folded)
				if err != nil {
					return err
				}
				sum += all[0]
			}
			return nil
		})
		for i, err := range errs {
			if is := errors.Is(err, errDies); is != (i == 1) || err != nil && !is {
				t.Errorf("node %d of %d: %v", i, nodes, err)
			}
		}
		if again.Load() > 0 || goneOn.Load() == 0 {
			t.Errorf("%d nodes: %d bodies ran again in runs that had ended, and %d in the last one", nodes, again.Load(), goneOn.Load())
		}
	}
}

// TestBarren has a node die in each life, at its first body or when all have a cut. Three lives in a row without a cut end the run.
func TestBarren(t *testing.T) {
	for name, c := range map[string]struct {
		nodes int
		cut   map[int]bool // lives that have one
		ends  bool
	}{
		"three without a cut":        {4, nil, true},
		"the second of four has one": {5, map[int]bool{2: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := chain{tasks: 7, rounds: 4000}
			lives, have := make([]int, c.nodes), make([]atomic.Int64, c.nodes)
			errs := runOn(c.nodes, Options{Survive: Survive{Interval: time.Millisecond}}, func(ctx context.Context, node int, rt *Runtime) error {
				lives[node]++
				life := lives[node]
				numbers, folded := chain.declare(rt, func(int, int) error {
					if rt.o.Nodes.survival.log.state().Cuts > 0 {
						have[node].Store(int64(life))
					}
					all := true
					for i := range have {
						all = all && (i < life-1 || have[i].Load() == int64(life))
					}
					if node == life-1 && node < c.nodes-1 && (all || !c.cut[life]) {
						return errors.Join(errDies, rt.o.Nodes.network.Close(context.Background()))
					}
					return nil
				})
				if err := rt.Run(ctx); err != nil {
					return err
				}
				return chain.check(ctx, numbers, folded)
			})
			err := errs[c.nodes-1]
			if barren := err != nil && strings.Contains(err.Error(), "3 lives in a row"); barren != c.ends || err != nil && !barren {
				t.Errorf("the last node ends with %v after %d lives", err, lives[c.nodes-1])
			}
		})
	}
}

// TestFailsInLives has a node fail in a run that goes on when a node is lost. All end, and name it: also a node whose program has returned nil, by what the first
// of the others tells.
func TestFailsInLives(t *testing.T) {
	for name, c := range map[string]struct{ during, after error }{
		"in a body":     {during: errDies},
		"after the run": {after: errDies},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := runOn(3, Options{Survive: Survive{Interval: time.Millisecond}}, func(ctx context.Context, node int, rt *Runtime) error {
				chain := chain{tasks: 7, rounds: 100, on: 3}
				chain.declare(rt, func(_, round int) error {
					if node == 2 && round == 50 {
						return c.during
					}
					return nil
				})
				switch err := rt.Run(ctx); {
				case node == 1:
					return nil // whatever has happened
				case node == 2 && err == nil:
					return c.after
				default:
					return err
				}
			})
			for i, err := range errs {
				failed := (*NodeError)(nil)
				if i == 2 && !errors.Is(err, errDies) || i < 2 && (!errors.As(err, &failed) || failed.Node != 2 || failed.Lost || !strings.Contains(failed.Text, errDies.Error())) {
					t.Errorf("node %d: %v, want the error of node 2", i, err)
				}
			}
		})
	}
}

// TestWeigh has nodes tell their weights. One that has none yet gets the mean of the others.
func TestWeigh(t *testing.T) {
	for _, c := range []struct{ told, want []int }{
		{[]int{0, 0, 0, 0}, []int{1000, 1000, 1000}},
		{[]int{5, 1500, 0, 500}, []int{500, 1500, 1000}},
		{[]int{5, 1500, 700, 500}, []int{500, 1500, 700}},
	} {
		if got := new(survival).weigh([]int{3, 1, 2}, c.told); !slices.Equal(got, c.want) {
			t.Errorf("told %d: %d, want %d", c.told, got, c.want)
		}
	}
}

// TestEndedTells ends a life. The node tells its weight, or that of the next life if the chair has chosen one, and how many lives have ended for a balance.
func TestEndedTells(t *testing.T) {
	for _, c := range []struct {
		next []int
		want int
	}{{nil, 500}, {[]int{700, 1300}, 700}} {
		n := &Nodes{weights: []int{500, 1500}, nextWeights: c.next, survival: &survival{keeper: lives.NewKeeper(), life: 1, tries: 3}}
		if l := n.ended(t.Context(), nil); l.Weight != c.want || l.Tries != 3 {
			t.Errorf("next weights %d: it tells weight %d and %d tries, want %d and 3", c.next, l.Weight, l.Tries, c.want)
		}
	}
}

// TestBuddies has each node keep copies of the node before, or of one on another machine.
func TestBuddies(t *testing.T) {
	for _, c := range []struct {
		machines []string
		want     []int
	}{
		{[]string{"a"}, []int{0}},
		{[]string{"a", "a", "a"}, []int{1, 2, 0}},
		{[]string{"a", "a", "b", "b"}, []int{2, 2, 0, 0}},
		{[]string{"a", "b", "a"}, []int{1, 2, 1}},
	} {
		n := &Nodes{place: launch.Place{Nodes: len(c.machines)}}
		for _, m := range c.machines {
			n.grounds = append(n.grounds, spread.Ground{Machine: m})
		}
		if got := n.buddies(); !slices.Equal(got, c.want) {
			t.Errorf("on machines %s: %d, want %d", c.machines, got, c.want)
		}
	}
}

// TestWeighs has node 1 be half as fast, so a third of the time is lost. The life ends when that has cost as much as another life, and a second at
// least. It counts twice if a life has ended for a balance before.
func TestWeighs(t *testing.T) {
	for _, c := range []struct {
		price time.Duration
		tries int
		want  int // seconds
	}{{0, 0, 4}, {5 * time.Second, 0, 16}, {0, 1, 7}} {
		s := &survival{since: time.Unix(1, 0)}
		p := new(planned)
		p.began.Store(s.since.Add(c.price).UnixNano())
		w := &cuts{rt: &Runtime{o: Options{Nodes: &Nodes{survival: s}, Log: silent}}, keeper: lives.NewKeeper(), weighed: true, life: lives.Life{Run: 1}}
		w.planned.Store(p)
		w.watch = balance.Watch{Weights: []int{1000, 1000}, Tries: c.tries}
		seconds := 0
		for w.weighed && seconds < 100 {
			seconds++
			load := func(busy int) balance.Load {
				return balance.Load{Units: 6, Done: 40 * int64(seconds), Workers: 1, Busy: int64(busy*seconds) * 1e9 / 2, Wall: int64(seconds) * 1e9}
			}
			w.weigh([]balance.Load{load(1), load(2)})
		}
		if seconds != c.want || s.tries != c.tries+1 {
			t.Errorf("%+v: the life ends after %d seconds, and %d lives have ended for a balance", c, seconds, s.tries)
		}
	}
}
