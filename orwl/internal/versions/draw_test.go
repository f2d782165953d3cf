package versions

import (
	"fmt"
	"math/rand/v2"
	"slices"

	modes "github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// randomCluster draws a program on two or three nodes.
func randomCluster(seed uint64) *cluster {
	rng := rand.New(rand.NewPCG(seed, 3))
	p := program{nodes: 2 + rng.IntN(2), homes: make(map[string]int), writes: make(map[[2]int]write)}
	names, equal, priorities := 1+rng.IntN(2)+rng.IntN(4)/3, rng.IntN(3) == 0, rng.IntN(2) == 0
	p.network = network{loose: rng.IntN(2) == 0, late: rng.IntN(2) == 0, tight: rng.IntN(4) == 0}
	for r := range names {
		p.homes[fmt.Sprint("r", r)] = rng.IntN(p.nodes)
		p.zero = append(p.zero, rng.IntN(2) == 0)
	}
	apart := make([]bool, 0, 5)
	for t := range 2 + rng.IntN(3) {
		task := liveness.Task{Name: fmt.Sprint("t", t)}
		for r := range names {
			for range 1 + rng.IntN(12)/11 {
				if rng.IntN(4) > 0 {
					a := liveness.Access{Resource: fmt.Sprint("r", r), Mode: modes.Mode(rng.IntN(2))}
					if priorities {
						a.Priority = rng.IntN(100)
					}
					p.writes[[2]int{t, len(task.Accesses)}] = write{words: uint8(rng.IntN(8)), grows: rng.IntN(4) == 0}
					task.Accesses = append(task.Accesses, a)
				}
			}
		}
		k := rng.IntN(4)
		if equal {
			k = 2
		}
		of := plan.Task{Rounds: k, Node: rng.IntN(p.nodes)}
		if k > 0 && rng.IntN(4) == 0 { // it says in a round that this is its last one
			k = rng.IntN(k + 1)
		}
		if rng.IntN(4) == 0 {
			of.Rounds = plan.Open
		}
		if of.Apart = rng.IntN(4) == 0; !of.Apart && rng.IntN(4) == 0 && len(task.Accesses) > 0 {
			task.Sequence = oneByOne(rng, len(task.Accesses))
		}
		apart = append(apart, of.Apart)
		p.quiet = append(p.quiet, rng.IntN(4) == 0)
		p.system.Tasks, p.tasks, p.last = append(p.system.Tasks, task), append(p.tasks, of), append(p.last, k)
	}
	p.order = func(t, _ int) []liveness.Step {
		if apart[t] {
			return oneByOne(rng, len(p.system.Tasks[t].Accesses))
		}
		return p.system.Tasks[t].Sequence
	}
	p.zero = append(p.zero, make([]bool, names)...)
	c := newCluster(p)
	return c
}

// oneByOne are steps that acquire and release each access once, in a random order.
func oneByOne(rng *rand.Rand, accesses int) (steps []liveness.Step) {
	idle, held := rng.Perm(accesses), []int(nil)
	for len(idle)+len(held) > 0 {
		if len(idle) > 0 && (len(held) == 0 || rng.IntN(2) == 0) {
			held = append(held, idle[0])
			steps = append(steps, liveness.Step{Op: liveness.Acquire, Accesses: idle[:1]})
			idle = idle[1:]
			continue
		}
		i := rng.IntN(len(held))
		steps = append(steps, liveness.Step{Op: liveness.Release, Accesses: []int{held[i]}})
		held = slices.Delete(held, i, i+1)
	}
	return steps
}
