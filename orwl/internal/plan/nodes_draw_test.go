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
	tasks = crossing(s, tasks, node, home)
	switch m {
	case pushed:
		for t := range tasks {
			if tasks[t].Rounds > 0 {
				tasks[t].Rounds = Open // all conditions are kept
			}
		}
		return newGame(s, tasks, last, math.MaxInt, order)
	case pushedNearest, nearestCredits:
		g := newGame(s, tasks, last, 0, order)
		g.withoutTurns()
		return g
	}
	return newGame(s, tasks, last, most, order)
}

// crossing are the tasks as the plan takes them. A task crosses nodes if another node uses one of its
// resources, or is its home.
func crossing(s liveness.System, tasks []Task, node []int, home map[string]int) []Task {
	nodes := make(map[string]set)
	for t, task := range s.Tasks {
		for _, a := range task.Accesses {
			nodes[a.Resource] |= 1<<node[t] | 1<<home[a.Resource]
		}
	}
	tasks = slices.Clone(tasks)
	for t, task := range s.Tasks {
		for _, a := range task.Accesses {
			if nodes[a.Resource] != 1<<node[t] {
				tasks[t].Apart = true
			}
		}
	}
	return tasks
}
