package shm

import (
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/internal/extents"
	"github.com/orwl/go-orwl/net/rma"
)

// pools is the dynamic memory of all ranks. Every process looks regions up in the shared
// tables without a lock. Only the process of a rank needs to know which parts of its
// pool are free, so no other one does.
type pools struct {
	memory *memory
	ranks  []pool
}

// pool is one rank's dynamic memory.
type pool struct {
	slots []slot   // shared
	words []uint64 // shared

	mu     sync.Mutex
	free   extents.Extents // in granules
	fresh  int             // granules from here on were never used
	unused []int           // slots that were used before
	next   int             // slots from here on were never used
}

// punchWords is the size from which the pages of a detached region go back to
// the system at once. Smaller ones stay with the pool: they are soon used again.
const punchWords = 1 << 17

func newPools(m *memory, l layout) *pools {
	all := &pools{memory: m, ranks: make([]pool, l.ranks)}
	granules := (l.dynamic + granule - 1) / granule
	for p := range all.ranks {
		own := &all.ranks[p]
		own.slots = views[slot](m, l.tableOf(p), l.slots)
		own.words = views[uint64](m, l.poolOf(p), granules*granule)
		own.free = extents.Extents{{At: 0, N: granules}}
	}
	return all
}

// Region implements direct.Memory.
func (all *pools) Region(target rma.Rank, slot int, generation uint64) []uint64 {
	own := &all.ranks[target]
	if slot >= len(own.slots) {
		return nil
	}
	s := &own.slots[slot]
	tag := s.tag.Load()
	if tag&1 == 0 || rma.Dynamic(slot, tag>>1) != rma.Dynamic(slot, generation) {
		return nil
	}
	at, n := s.at.Load(), s.words.Load()
	if s.tag.Load() != tag {
		return nil // detached meanwhile: at and n need not belong together
	}
	return own.words[at : at+n : at+n]
}

// Attach implements direct.Memory.
func (all *pools) Attach(p rma.Rank, words int) (rma.Region, error) {
	own := &all.ranks[p]
	own.mu.Lock()
	defer own.mu.Unlock()
	if words < 1 || words > rma.MaxRegion {
		return rma.Region{}, own.noSpace(words, "a region has at least one word and at most 1<<32")
	}
	at, slot, why := own.take((words + granule - 1) / granule)
	if why != "" {
		return rma.Region{}, own.noSpace(words, why)
	}
	memory := own.words[at*granule : at*granule+words : at*granule+words]
	all.zero(memory[:min(words, max(0, own.fresh-at)*granule)])
	own.fresh = max(own.fresh, at+(words+granule-1)/granule)

	s := &own.slots[slot]
	s.at.Store(uint64(at * granule))
	s.words.Store(uint64(words))
	s.tag.Add(1)
	return rma.Region{Base: rma.Dynamic(slot, s.tag.Load()>>1), Words: memory}, nil
}

// Detach implements direct.Memory.
func (all *pools) Detach(p rma.Rank, base rma.Disp) error {
	own := &all.ranks[p]
	own.mu.Lock()
	defer own.mu.Unlock()
	slot, generation, offset := base.Dynamic()
	var memory []uint64
	if base.IsDynamic() && offset == 0 {
		memory = all.Region(p, slot, generation)
	}
	if memory == nil {
		return fmt.Errorf("shm: detach of %s: %w", base, rma.ErrNotAttached)
	}
	s := &own.slots[slot]
	s.tag.Add(1)
	if len(memory) >= punchWords {
		all.zero(memory)
	}
	own.unused = append(own.unused, slot)
	own.free.Give(int(s.at.Load())/granule, (len(memory)+granule-1)/granule)
	return nil
}

// zero clears memory, by giving it back to the system if there is much of it.
func (all *pools) zero(memory []uint64) {
	if len(memory) < punchWords || all.memory.punch(memory) != nil {
		clear(memory)
	}
}

// take finds a slot and granules for a region, or says why there are none.
func (own *pool) take(granules int) (at, slot int, why string) {
	if len(own.unused) == 0 && own.next == len(own.slots) {
		return 0, 0, fmt.Sprintf("the rank has %d regions already: detach some", own.next)
	}
	at, ok := own.free.Take(granules)
	if !ok {
		return 0, 0, "raise Options.DynamicWords, or detach regions"
	}
	if last := len(own.unused) - 1; last >= 0 {
		slot = own.unused[last]
		own.unused = own.unused[:last]
	} else {
		slot = own.next
		own.next++
	}
	return at, slot, ""
}

// noSpace is the error for a region that does not fit. Free is the largest that does.
func (own *pool) noSpace(words int, hint string) error {
	return &rma.AllocError{Words: words, Free: own.free.Largest() * granule, Why: rma.ErrNoSpace, Hint: hint}
}
