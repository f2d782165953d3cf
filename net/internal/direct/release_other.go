//go:build !amd64

package direct

import "sync/atomic"

// storeBefore stores a value after everything that the rank has stored before, in
// everybody's order.
func storeBefore(word *uint64, value uint64) { atomic.StoreUint64(word, value) }
