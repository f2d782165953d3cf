//go:build !amd64 && !arm64

package direct

import "sync/atomic"

// relax lets a little time pass.
func relax(n uint32) {
	var here atomic.Uint32
	for range n {
		here.Load()
	}
}
