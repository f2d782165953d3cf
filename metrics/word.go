package metrics

import (
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
)

// word is a count that one goroutine at a time writes, and others look at. An
// ordinary store does for that, a tenth of the time of an atomic addition. It is
// an atomic one where the race detector looks.
type word struct{ v atomic.Uint64 }

// add is for the writer.
func (w *word) add(n uint64) { w.set(*(*uint64)(unsafe.Pointer(&w.v)) + n) }

// set is for the writer.
func (w *word) set(v uint64) {
	if invariant.Enabled {
		w.v.Store(v)
	} else {
		*(*uint64)(unsafe.Pointer(&w.v)) = v
	}
}

// load is for whoever looks.
func (w *word) load() uint64 { return w.v.Load() }
