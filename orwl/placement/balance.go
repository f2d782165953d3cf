package placement

import (
	"math/bits"

	"github.com/orwl/go-orwl/net/topology"
)

// balance is how much a rank, and a group of ranks, may carry.
type balance struct {
	ranks int
	total int64
	limit int64 // of a rank
	floor int64 // of a rank
	even  bool  // all tasks have load 1
}

// newBalance takes the limit from the tolerance, or if tasks are too coarse for
// that, from the best blocks in order: those always exist, so that there is
// always a placement within the limit.
func newBalance(load []int64, ranks int, tolerance float64) balance {
	b := balance{ranks: ranks}
	var heaviest int64
	for _, w := range load {
		b.total += w
		heaviest = max(heaviest, w)
	}
	b.even = heaviest == 1
	average := (b.total + int64(ranks) - 1) / int64(ranks)
	if b.even {
		b.limit, b.floor = average, b.total/int64(ranks)
		return b
	}
	low, high := max(average, heaviest), average+heaviest
	for low < high {
		middle := low + (high-low)/2
		if b.blocksWithin(load, middle) <= ranks {
			high = middle
		} else {
			low = middle + 1
		}
	}
	b.limit = max(low, int64(float64(b.total)/float64(ranks)*(1+tolerance)))
	return b
}

// blocksWithin counts the blocks in order of at most the given load each.
func (b *balance) blocksWithin(load []int64, limit int64) int {
	blocks, filled := 1, int64(0)
	for _, w := range load {
		if filled+w > limit {
			blocks, filled = blocks+1, 0
		}
		filled += w
	}
	return blocks
}

// inOrder gives every rank a block of tasks in the order of their numbers:
// where blocks that begin at even distances are within the limit those, else
// blocks that are filled up to it. Fewer tasks than ranks take the first ranks.
func (b *balance) inOrder(load []int64) []topology.Rank {
	placed := make([]topology.Rank, len(load))
	if b.even && len(load) <= b.ranks {
		for t := range placed {
			placed[t] = topology.Rank(t)
		}
		return placed
	}
	var before int64
	for t, w := range load {
		placed[t] = topology.Rank(before * int64(b.ranks) / b.total)
		before += w
	}
	if b.holds(load, placed) {
		return placed
	}
	rank, filled := topology.Rank(0), int64(0)
	for t, w := range load {
		if filled+w > b.limit {
			rank, filled = rank+1, 0
		}
		filled += w
		placed[t] = rank
	}
	return placed
}

// holds reports whether every rank is within its limits.
func (b *balance) holds(load []int64, placed []topology.Rank) bool {
	for _, w := range loadsOf(b.ranks, load, placed) {
		if w > b.limit || w < b.floor {
			return false
		}
	}
	return true
}

func loadsOf(ranks int, load []int64, placed []topology.Rank) []int64 {
	loads := make([]int64, ranks)
	for t, r := range placed {
		loads[r] += load[t]
	}
	return loads
}

// capacity is what a group of ranks may carry. Tasks that differ do not fill
// ranks without gaps, so a group keeps some of its ranks' tolerance back, the
// more the oftener it is still to be divided. A group's parts together may
// therefore carry more than the group.
func (b *balance) capacity(ranks int) int64 {
	n := int64(ranks)
	if b.even {
		return n * b.limit
	}
	average := b.total * n / int64(b.ranks)
	return average + (n*b.limit-average)/int64(1+bits.Len(uint(ranks-1)))
}

// bounds is what the first of two groups of ranks may carry if both together
// carry the given load.
func (b *balance) bounds(load int64, ranks, others int) (low, high int64) {
	low = max(load-b.capacity(others), int64(ranks)*b.floor)
	high = min(b.capacity(ranks), load-int64(others)*b.floor)
	if low > high { // the load is too much for both: each bears its share
		low = load / int64(ranks+others) * int64(ranks)
		high = low
	}
	return low, high
}
