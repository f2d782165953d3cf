package liveness

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orwl/go-orwl/resource"
)

// randomSystem has 2 to 5 tasks on 1 to 4 resources, with any modes and in any order.
func randomSystem(r *rand.Rand) System {
	var s System
	names := []string{"a", "b", "c", "d"}[:1+r.IntN(4)]
	kind := r.IntN(4)
	for t := range 2 + r.IntN(4) {
		task := Task{Name: fmt.Sprintf("t%d", t)}
		for range 1 + r.IntN(3) {
			a := Access{Resource: names[r.IntN(len(names))], Mode: resource.Mode(r.IntN(2))}
			twice := slices.ContainsFunc(task.Accesses, func(b Access) bool { return a.Resource == b.Resource })
			if twice && r.IntN(8) > 0 {
				continue
			}
			switch kind {
			case 0: // any order
				a.Priority = r.IntN(1000)
			case 1: // mostly canonical
				a.Priority = r.IntN(4) / 3
			case 2: // the first accesses of all tasks, then the second ones
				a.Priority = len(task.Accesses)
			}
			task.Accesses = append(task.Accesses, a)
		}
		if kind == 2 || r.IntN(3) > 0 {
			task.Sequence = randomSequence(r, len(task.Accesses), kind != 2)
		}
		s.Tasks = append(s.Tasks, task)
	}
	return s
}

// randomSequence has steps of one to three accesses, in any order or in the order of the task.
func randomSequence(r *rand.Rand, accesses int, anyOrder bool) (steps []Step) {
	var idle, held []int
	for a := range accesses {
		idle = append(idle, a)
	}
	for len(idle)+len(held) > 0 {
		op, from := Op(min(r.IntN(4), 1)), &idle // it mostly releases early
		if op == Release {
			from = &held
		}
		if anyOrder {
			r.Shuffle(len(*from), func(i, j int) { (*from)[i], (*from)[j] = (*from)[j], (*from)[i] })
		}
		n := min(1+r.IntN(3), len(*from))
		if n == 0 {
			continue
		}
		step := Step{op, slices.Clone((*from)[:n])}
		*from = (*from)[n:]
		if op == Acquire {
			held = append(held, step.Accesses...)
		}
		steps = append(steps, step)
	}
	return steps
}

// withoutSequences is a system whose tasks hold all their accesses at once.
func withoutSequences(s System) System {
	tasks := slices.Clone(s.Tasks)
	for t := range tasks {
		tasks[t].Sequence = nil
	}
	return System{tasks}
}
