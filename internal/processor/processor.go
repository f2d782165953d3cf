package processor

import (
	"sync"
	"sync/atomic"
)

// Number is the number of the processor that runs the calling goroutine now: small, and
// not negative.
func Number() int {
	if known {
		return cpu()
	}
	return scheduled()
}

// scheduled is the number that was left at this processor of the Go scheduler, or the
// next one. The garbage collector forgets some of them, so they may grow for ever.
//
//go:noinline
func scheduled() int {
	n := numbers.Get().(*int)
	number := *n
	numbers.Put(n)
	return number
}

var (
	given   atomic.Uint32
	numbers = sync.Pool{New: func() any {
		n := int(given.Add(1) - 1)
		return &n
	}}
)
