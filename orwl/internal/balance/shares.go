package balance

import "slices"

// Mean is the mean weight of the nodes of a life. Without a measure all have it.
const Mean = 1000

// Equal reports whether all weights are the same, or there are none.
func Equal(weights []int) bool {
	return !slices.ContainsFunc(weights, func(w int) bool { return w != weights[0] })
}

// Valid reports whether so many nodes may have such weights.
func Valid(weights []int, nodes int) bool {
	return len(weights) == nodes && !slices.ContainsFunc(weights, func(w int) bool { return w < 1 || w > mostWeight })
}

// mostWeight is the largest weight: products of a weight and a number of units fit into 64 bits.
const mostWeight = 1 << 30

// Shares deals units to nodes with such weights, as many as to keep the largest number of units for each weight small. If two
// nodes may get a unit, the first one does. No node is without a unit if there are as many units as nodes: a node without work shows no speed.
func Shares(units int, weights []int) []int {
	shares, sum, least := make([]int, len(weights)), 0, 0
	for _, w := range weights {
		sum += w
	}
	if units >= len(weights) {
		least = 1
	}
	left := units
	for i, w := range weights {
		shares[i] = max(least, int(int64(units)*int64(w)/int64(sum))) // the best shares are not less
		left -= shares[i]
	}
	for ; left > 0; left-- {
		best := 0
		for i := range weights {
			if less(shares[i]+1, weights[i], shares[best]+1, weights[best]) {
				best = i
			}
		}
		shares[best]++
	}
	for ; left < 0; left++ { // to those that have one only because they must have one
		worst := -1
		for i := range weights {
			if shares[i] > least && (worst < 0 || less(shares[worst], weights[worst], shares[i], weights[i])) {
				worst = i
			}
		}
		shares[worst]--
	}
	return shares
}

// most is the node with the largest number of units for its weight, and that number: a round takes so long with such shares.
func most(shares, weights []int) (node int, units float64) {
	for i := range shares {
		if less(shares[node], weights[node], shares[i], weights[i]) {
			node = i
		}
	}
	return node, float64(shares[node]) / float64(weights[node])
}

// less reports whether a node with so many units and such a weight ends before another one.
func less(units, weight, others, other int) bool {
	return int64(units)*int64(other) < int64(others)*int64(weight)
}
