package placement

import "github.com/orwl/go-orwl/net/topology"

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
