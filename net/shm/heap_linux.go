package shm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// heap hands out symmetric memory from the front, in every process alike.
//
// Where an allocation begins, the log has its size. The first process that comes there
// writes it. Processes whose sizes have agreed so far are at the same place, so their
// first difference shows there. The log needs no order of its own, is full no sooner
// than the heap, and is as sparse.
type heap struct {
	log []atomic.Uint64 // shared

	mu   sync.Mutex
	used int
	err  error
}

func (h *heap) alloc(words int) (rma.Disp, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return 0, h.err
	}
	failure := &rma.AllocError{Words: words, Free: len(h.log) - h.used}
	if words < 1 || words > failure.Free {
		failure.Why, failure.Hint = rma.ErrNoSpace, "raise Options.Words, or ask for at least one word"
		return 0, failure
	}
	if entry := &h.log[h.used]; !entry.CompareAndSwap(0, uint64(words)) && entry.Load() != uint64(words) {
		failure.Why, failure.Hint = rma.ErrAsymmetric, fmt.Sprintf(
			"another process allocated %d words at displacement %d: make the same allocations in the same order in every process",
			entry.Load(), h.used)
		return 0, failure
	}
	base := h.used
	h.used += words
	return rma.Disp(base), nil
}

func (h *heap) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = err
	}
}
