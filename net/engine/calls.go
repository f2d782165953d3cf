package engine

import (
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// Calls are the operations of a node's ranks, on one lane, that wait for their
// answers. A rank has at most one, since its window is used by one goroutine. The
// answer to any other is not one: it came twice, or is made up.
type Calls struct{ waits map[rma.Rank]uint64 }

// Expect says that a rank waits for the answer to the frame of a number.
func (c *Calls) Expect(p rma.Rank, number uint64) {
	if c.waits == nil {
		c.waits = make(map[rma.Rank]uint64)
	}
	c.waits[p] = number
}

// Answered reports whether the reply is what its rank waits for, which then no
// longer waits.
func (c *Calls) Answered(r *wire.Reply) bool {
	if number, waits := c.waits[r.Origin]; !waits || number != r.Call {
		return false
	}
	delete(c.waits, r.Origin)
	return true
}
