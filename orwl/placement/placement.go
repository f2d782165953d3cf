package placement

import (
	"errors"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/topology"
)

// Placement proposes a rank for each task, and compares the cost with two simple
// placements. [Place] makes it.
type Placement struct {
	Rank       []topology.Rank // of each task
	Cost       Cost            // of Rank; never more than InOrder's
	InOrder    Cost            // of blocks of tasks in the order of their numbers
	RoundRobin Cost            // of task t on rank t mod P
	Limit      int64           // no rank carries more
	Floor      int64           // no rank carries less; 0 if tasks differ in load

	graph Graph
	links *links
	tree  *topology.Tree
}

// manyTasks is beyond how many tasks blocks in order trade only if division did
// not beat them: it takes as long as the division and hardly ever wins.
const manyTasks = 1 << 10

// Place puts tasks that give each other much close together on the tree, such
// that every rank carries about the same load: tasks of one load are spread to within one
// task, and otherwise no rank exceeds the average by more than a twentieth, or by what the
// best blocks of tasks in order need. The cost that it keeps low is the
// sum over all edges of weight times distance: 0 on one rank, 1 if only the
// finest element above the ranks joins the two, and N if only the machine does.
//
// Place works like Scotch and TreeMatch. From the machine down, it divides the tasks of
// each element among its parts, so that little weight is cut: by halves, which are
// coarsened, grown, and refined after Fiduccia and Mattheyses on the way back. Then pairs
// of elements of each level trade tasks. Blocks in order trade, too, if tasks are few or
// division found nothing better. The cheapest placement wins. Up to eight tasks on four
// ranks no placement is cheaper. Place draws no random numbers: the same graph and tree
// give the same placement everywhere.
//
// It takes about a third of a second for 10,000 tasks with four links each on 64
// ranks, and two seconds for 100,000. The error is a [*Error].
func Place(tree *topology.Tree, g Graph) (*Placement, error) {
	if tree == nil || tree.Levels() == 0 {
		return nil, &Error{"the tree", "is missing", "take it from topology.Parse, topology.Flat or host.Detect"}
	}
	if err := g.validate(tree); err != nil {
		return nil, err
	}
	l := g.links()
	b := newBalance(l.load, tree.Ranks())
	d := &descent{tree: tree, links: l, balance: b}
	p := &Placement{Limit: b.limit, Floor: b.floor, graph: g, links: l, tree: tree}

	inOrder := b.inOrder(l.load)
	roundRobin := make([]topology.Rank, g.Tasks)
	for t := range roundRobin {
		roundRobin[t] = topology.Rank(t % tree.Ranks())
	}
	p.InOrder, p.RoundRobin = costOf(tree, l, inOrder), costOf(tree, l, roundRobin)
	p.Rank, p.Cost = inOrder, p.InOrder
	p.consider(&b, d.divided(), roundRobin)
	if g.Tasks <= manyTasks || p.Cost.Total == p.InOrder.Total {
		p.consider(&b, d.polished(inOrder))
	}
	if g.Tasks <= fewTasks {
		p.consider(&b, d.improved(p.Rank, p.Cost.Total))
	}
	if invariant.Enabled {
		invariant.Check(b.holds(l.load, p.Rank), "loads %d are not within %d to %d", p.Loads(), b.floor, b.limit)
	}
	return p, nil
}

// consider takes the cheapest placement that is within the limits and cheaper than
// the present one. Among equals it takes the first.
func (p *Placement) consider(b *balance, candidates ...[]topology.Rank) {
	for _, ranks := range candidates {
		if cost := costOf(p.tree, p.links, ranks); cost.Total < p.Cost.Total && b.holds(p.links.load, ranks) {
			p.Rank, p.Cost = ranks, cost
		}
	}
}

// ByRank lists the tasks of each rank, in ascending order: what each rank
// starts, and joined, an order of start that keeps neighbours together.
func (p *Placement) ByRank() [][]int {
	tasks := make([][]int, p.tree.Ranks())
	for t, r := range p.Rank {
		tasks[r] = append(tasks[r], t)
	}
	return tasks
}

// Loads is what each rank carries.
func (p *Placement) Loads() []int64 { return loadsOf(p.tree.Ranks(), p.links.load, p.Rank) }

// Links counts the pairs of tasks with an edge of some weight between them, and
// the weight of all edges together.
func (p *Placement) Links() (pairs int, weight int64) {
	return len(p.links.to) / 2, p.Cost.weight()
}

// ErrUnknownTask is matched by the error of a method that was asked about a task
// that the graph does not have.
var ErrUnknownTask = errors.New("unknown task")

// Error is a graph or a list of accesses that no placement can be made of.
type Error struct {
	What   string // the thing, as in "edge 3"
	Wrong  string // the fault
	Remedy string // the advice
}

func (e *Error) Error() string {
	return "placement: " + e.What + " " + e.Wrong + ": " + e.Remedy
}

// Cost is what a placement costs.
type Cost struct {
	Total int64 // sum over all edges of weight times distance
	// ByDistance is the weight at each distance 0..N: 0 on one rank, 1 if the
	// finest level joins the two ranks, N if only the machine does.
	ByDistance []int64
}

// costOf looks at every link once.
func costOf(tree *topology.Tree, l *links, placed []topology.Rank) Cost {
	c := Cost{ByDistance: make([]int64, tree.Levels()+1)}
	for v := range l.tasks() {
		for k := l.start[v]; k < l.start[v+1]; k++ {
			if u := int(l.to[k]); u > v {
				c.ByDistance[distance(tree, placed[v], placed[u])] += l.weight[k]
			}
		}
	}
	for d, weight := range c.ByDistance {
		c.Total += int64(d) * weight
	}
	return c
}

func (c *Cost) weight() (sum int64) {
	for _, w := range c.ByDistance {
		sum += w
	}
	return sum
}

// distance is how many levels above its rank a task has to go to meet another.
func distance(tree *topology.Tree, a, b topology.Rank) int {
	return tree.Levels() + 1 - tree.Common(a, b)
}
