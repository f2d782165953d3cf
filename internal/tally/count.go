package tally

import "sync/atomic"

// Count is a number that one goroutine at a time writes and any goroutine reads. The
// zero value is 0. Do not copy a Count after its first use.
type Count struct {
	_ [0]atomic.Uint64 // aligns n on 32-bit platforms, and lets go vet find copies
	n uint64
}

// Inc adds one. Only the writer calls it.
func (c *Count) Inc() { c.Set(c.n + 1) }

// Add adds n. Only the writer calls it.
func (c *Count) Add(n uint64) { c.Set(c.n + n) }

// Set replaces the number by n. Only the writer calls it.
func (c *Count) Set(n uint64) {
	if ordinary {
		c.n = n
	} else {
		atomic.StoreUint64(&c.n, n)
	}
}

// Own returns the number without an atomic instruction. Only the writer calls it.
func (c *Count) Own() uint64 { return c.n }

// Load returns the number. Any goroutine may call it.
func (c *Count) Load() uint64 { return atomic.LoadUint64(&c.n) }
