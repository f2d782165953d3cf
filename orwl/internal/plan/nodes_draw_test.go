package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/orwl/go-orwl/orwl/liveness"
)

// randomCluster draws a program on two or three nodes, with one to three tasks on each of them.
func randomCluster(seed uint64, m variant, equal bool) *cluster {
	rng := rand.New(rand.NewPCG(seed, 3))
	nodes := 2 + rng.IntN(mostNodes-1)
	var node []int
	for x := range nodes {
		for range 1 + rng.IntN(5)/3 + rng.IntN(6)/5 {
			node = append(node, x)
		}
	}
	rng.Shuffle(len(node), func(i, j int) { node[i], node[j] = node[j], node[i] })
	for {
		if c := drawCluster(rng, node, nodes, m, equal); c != nil {
			return c
		}
	}
}

// drawCluster draws what the tasks do. It gives up if they have too many accesses.
func drawCluster(rng *rand.Rand, node []int, nodes int, m variant, equal bool) *cluster {
	names := 1 + rng.IntN(mostResources)
	s, tasks, last, order := randomTasks(rng, len(node), names, equal, rng.IntN(2) == 0)
	if m == none {
		for t := range tasks {
			tasks[t].Node = node[t]
		}
		drawAhead(rng, s, tasks)
	}
	n := 0
	for t, task := range s.Tasks {
		if n += len(task.Accesses); equal && m != none {
			last[t] = tasks[t].Rounds // no task ends before
		}
	}
	if n > mostAccesses {
		return nil
	}
	most := most * rng.IntN(2) // half of all programs take empty turns
	home := make(map[string]int)
	for r := range names {
		home[fmt.Sprint("r", r)] = rng.IntN(nodes)
	}
	g := gameOnNodes(s, tasks, last, most, order, node, home, m)
	c := newCluster(g, node, home, func() uint8 { return uint8(rng.IntN(1 << wordsEach)) }, m)
	if m == none {
		c.network = network{loose: rng.IntN(2) == 0, joins: rng.IntN(2) == 0, late: rng.IntN(2) == 0}
	}
	return c
}

// gameOnNodes is a game with the plan of the rule, or of a variant.
func gameOnNodes(s liveness.System, tasks []Task, last []int, most int, order func(task, round int) []liveness.Step, node []int, home map[string]int, m variant) *game {
	tasks = slices.Clone(tasks)
	for t := range tasks {
		tasks[t].Node = node[t]
	}
	p := newPlan(describeOnNodes(s, tasks, home), most)
	for t, task := range s.Tasks {
		if n := len(task.Accesses); n > 1 && p.Counter(t, 0) != p.Counter(t, 1) {
			tasks[t].Apart = true
		}
	}
	switch m {
	case pushed:
		for t := range tasks {
			if tasks[t].Rounds > 0 {
				tasks[t].Rounds = Open // all conditions are kept
			}
		}
		return newGame(s, tasks, last, math.MaxInt, order)
	case pushedNearest:
		g := newGame(s, tasks, last, 0, order)
		g.withoutTurns()
		return g
	case nearestCredits:
		g := newGameBy(newPlan(describeOnNodes(s, tasks, home), 0), s, tasks, last, order)
		g.withoutTurns()
		return g
	case creditStands: // the bytes of the writer before are not waited for
		return newGame(s, tasks, last, most, order)
	}
	return newGameBy(p, s, tasks, last, order)
}
