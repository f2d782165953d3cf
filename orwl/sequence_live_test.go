package orwl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// sequencePlan is a random program of tasks with sequences. A seed makes it.
type sequencePlan struct {
	seed   uint64
	system liveness.System
}

// drawSequencePlan draws up to four tasks on up to four resources. Half of the plans start
// with the first accesses of all tasks, then the second ones, and so on.
func drawSequencePlan(seed uint64) sequencePlan {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := sequencePlan{seed: seed}
	resources := 1 + rng.IntN(4)
	for t := range 2 + rng.IntN(3) {
		task := liveness.Task{Name: fmt.Sprintf("t%d", t)}
		for i, r := range rng.Perm(resources)[:1+rng.IntN(resources)] {
			a := liveness.Access{Resource: fmt.Sprintf("r%d", r), Mode: queue.Mode(rng.IntN(2)), Priority: i}
			if seed%2 == 0 {
				a.Priority = rng.IntN(4)
			}
			task.Accesses = append(task.Accesses, a)
		}
		var held []int
		release := func(n int) {
			if n = min(n, len(held)); n > 0 {
				task.Sequence = append(task.Sequence, liveness.Step{Op: liveness.Release, Accesses: slices.Clone(held[:n])})
				held = held[n:]
			}
		}
		for a := range task.Accesses {
			task.Sequence = append(task.Sequence, liveness.Step{Op: liveness.Acquire, Accesses: []int{a}})
			held = append(held, a)
			release(rng.IntN(3))
		}
		release(len(held))
		p.system.Tasks = append(p.system.Tasks, task)
	}
	return p
}

// version is the version of its resource that an access sees in each round: all writes of
// the rounds before, and the writes of this round that were ahead of it at first.
func (p sequencePlan) version(of liveness.First, round int) uint64 {
	access := func(f liveness.First) liveness.Access { return p.system.Tasks[f.Task].Accesses[f.Access] }
	version, ahead := 0, 1
	for _, f := range p.system.Order() {
		if f == of {
			ahead = 0
		}
		if access(f).Mode == queue.Write && access(f).Resource == access(of).Resource {
			version += round + ahead
		}
	}
	return uint64(version)
}

// declare makes the plan a program. Each write commits a version.
func (p sequencePlan) declare(t *testing.T, o Options, rounds int) *Runtime {
	rt := mustNew(t, o)
	for i := range 4 {
		rt.Resource(fmt.Sprintf("r%d", i), 8)
	}
	for number, planned := range p.system.Tasks {
		task := rt.Task(planned.Name)
		for _, a := range planned.Accesses {
			declare := task.Read
			if a.Mode == queue.Write {
				declare = task.Write
			}
			declare(rt.Lookup(a.Resource)).Priority(a.Priority)
		}
		var steps []Step
		for _, planned := range planned.Sequence {
			step := Step{op: planned.Op}
			for _, a := range planned.Accesses {
				step.accesses = append(step.accesses, task.accesses[a])
			}
			steps = append(steps, step)
		}
		task.Sequence(steps...)
		task.Do(func(task *Task) error {
			between := noise(p.seed ^ uint64(number))
			for round := range rounds {
				for _, step := range planned.Sequence {
					for _, a := range step.Accesses {
						between()
						if err := p.do(task, round, step.Op, liveness.First{Task: number, Access: a}); err != nil {
							return err
						}
					}
				}
			}
			return nil
		})
	}
	return rt
}

// do does one part of a step. It returns an error if an access sees another version than
// the start order says.
func (p sequencePlan) do(task *Task, round int, op liveness.Op, f liveness.First) error {
	a := task.accesses[f.Access]
	if op == liveness.Release {
		return a.Next()
	}
	if err := a.Acquire(task.Context()); err != nil {
		return err
	}
	if got, want := a.Place().Version(), p.version(f, round); got != want {
		return fmt.Errorf("access %d sees version %d in round %d, want %d", f.Access+1, got, round, want)
	}
	if a.Mode() == queue.Write {
		Write[uint64](a)[0]++
	}
	return nil
}

// onlyBySequences reports whether the plan is alive, but not if each task holds all its
// accesses at once.
func (p sequencePlan) onlyBySequences() bool {
	whole := liveness.System{Tasks: slices.Clone(p.system.Tasks)}
	for i := range whole.Tasks {
		whole.Tasks[i].Sequence = nil
	}
	return p.system.Check() == nil && whole.Check() != nil
}

// Programs with sequences that Check calls alive run to their end, and each access sees the
// same version in every schedule. Many of them would be refused without their sequences.
func TestSequencesRun(t *testing.T) {
	const rounds = 30
	alive, only := 0, 0
	for seed := range uint64(400) {
		p := drawSequencePlan(seed)
		rt := p.declare(t, Options{}, rounds)
		err := rt.Run(t.Context())
		var deadlock *liveness.DeadlockError
		if errors.As(err, &deadlock) {
			continue
		} else if err != nil {
			t.Fatalf("seed %d: %v in\n%v", seed, err, p.system)
		}
		checkIdle(t, rt)
		alive++
		if p.onlyBySequences() {
			only++
		}
	}
	t.Logf("%d programs ran, %d of them only by their sequences", alive, only)
	if alive < 150 || only < 40 {
		t.Errorf("%d programs ran, %d of them only by their sequences: too few", alive, only)
	}
}

// The same on two nodes: the tasks take turns between them, and see the same versions.
func TestSequencesRunOnNodes(t *testing.T) {
	ran := 0
	for seed := uint64(0); ran < 4; seed++ {
		p := drawSequencePlan(seed)
		if !p.onlyBySequences() {
			continue
		}
		ran++
		nodes := crew(t, 2)
		each(nodes, func(_ int, n *Nodes) {
			rt := p.declare(t, Options{Nodes: n}, 10)
			for i, task := range rt.tasks {
				task.On(i % 2)
			}
			if err := rt.Run(t.Context()); err != nil {
				t.Errorf("seed %d, node %d: %v in\n%v", seed, n.Number(), err, p.system)
			}
		})
		disband(t, nodes)
	}
}

// Nodes that declare different sequences run different programs. None of them runs.
func TestOtherSequences(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		task := rt.Task("t")
		both := []*Access{task.Write(rt.Resource("a", 8)), task.Write(rt.Resource("b", 8))}
		task.Sequence(Acquire(both[i]), Release(both[i]), Acquire(both[1-i]), Release(both[1-i]))
		task.Do(func(*Task) error { t.Error("a task runs"); return nil })
		if err := rt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("node %d: %v", i, err)
		}
	})
}

// jacobi declares cells in a row. In each round a cell publishes its value, releases it,
// and then takes the average of its neighbours. The cells declare their order if sequences is
// true.
func jacobi(t *testing.T, start []float64, rounds int, sequences bool) (rt *Runtime, result []float64) {
	rt = mustNew(t, Options{})
	result = slices.Clone(start)
	for i := range start {
		rt.Resource(fmt.Sprint(i), 8)
	}
	for i := range start {
		task := rt.Task(fmt.Sprint(i))
		own := task.Write(rt.Lookup(fmt.Sprint(i)))
		var sides []*Access
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(start) {
				sides = append(sides, task.Read(rt.Lookup(fmt.Sprint(j))).Priority(1))
			}
		}
		if sequences {
			task.Sequence(Acquire(own), Release(own), Acquire(sides...), Release(sides...))
		}
		task.Do(func(task *Task) error {
			between := noise(uint64(i))
			for range rounds {
				if err := own.Acquire(task.Context()); err != nil {
					return err
				}
				Write[float64](own)[0] = result[i]
				if err := own.Next(); err != nil {
					return err
				}
				between()
				sum := 0.0
				for _, side := range sides {
					if err := side.Acquire(task.Context()); err != nil {
						return err
					}
					sum += Read[float64](side).At(0)
				}
				result[i] = sum / float64(len(sides))
				for _, side := range sides {
					if err := side.Next(); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return rt, result
}

// The natural Jacobi is refused without sequences. With them it computes, bit for bit, what
// a plain loop over two arrays does.
func TestNaturalJacobi(t *testing.T) {
	start := []float64{1, 0, 0.25, 7, 3, -2, 11, 0.1}
	const rounds = 200
	rt, _ := jacobi(t, start, rounds, false)
	var deadlock *liveness.DeadlockError
	if err := rt.Run(t.Context()); !errors.As(err, &deadlock) {
		t.Errorf("without sequences: %v, want a *liveness.DeadlockError", err)
	}
	rt, got := jacobi(t, start, rounds, true)
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	old, want := make([]float64, len(start)), slices.Clone(start)
	for range rounds {
		copy(old, want)
		last := len(old) - 1
		want[0], want[last] = old[1], old[last-1]
		for i := 1; i < last; i++ {
			want[i] = (old[i-1] + old[i+1]) / 2
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
