package engine

import (
	"slices"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// Calls are the operations of a node's ranks, on one lane, that wait for their
// answers. A rank has at most one, since its window is used by one goroutine. The
// answer to any other is not one: it came twice, or is made up.
//
// The ranks of a node are mostly neighbours, so a list from the first that has asked to
// the last does, and takes a tenth of the time of a map.
type Calls struct {
	first rma.Rank
	waits []uint64 // the frames' numbers, 0 for a call that does not wait
}

// Expect says that a rank waits for the answer to the frame of a number.
func (c *Calls) Expect(p rma.Rank, number uint64) {
	switch n := rma.Rank(len(c.waits)); {
	case n == 0:
		c.first, c.waits = p, append(c.waits, 0)
	case p < c.first:
		c.waits = slices.Insert(c.waits, 0, make([]uint64, c.first-p)...)
		c.first = p
	case p-c.first >= n:
		c.waits = append(c.waits, make([]uint64, p-c.first-n+1)...)
	}
	c.waits[p-c.first] = number
}

// Answered reports whether the reply is what its rank waits for, which then no
// longer waits.
func (c *Calls) Answered(r *wire.Reply) bool {
	at := r.Origin - c.first
	if at < 0 || int(at) >= len(c.waits) || r.Call == 0 || c.waits[at] != r.Call {
		return false
	}
	c.waits[at] = 0
	return true
}
