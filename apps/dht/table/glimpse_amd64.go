//go:build !race && !invariants

package table

// glimpses says that a word may be read with ordinary instructions while somebody writes
// it: on this processor it is then the old or the new one, and what one processor has
// written in an order, others see in it. The race detector does not believe that.
const glimpses = true
