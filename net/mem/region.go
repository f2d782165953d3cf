package mem

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// regions is the dynamic memory of all ranks. Readers, on any rank, look a
// region up without a lock; only Attach, Expose and Detach take one.
type regions []*table

// table is one rank's regions by slot.
type table struct {
	slots atomic.Pointer[[]*slot] // replaced by a longer copy when it must grow

	mu   sync.Mutex
	free []int // slots without a region
}

type slot struct {
	region     atomic.Pointer[region]
	generation uint64 // of the next region; guarded by the table's mu
}

// region is immutable.
type region struct {
	generation uint64
	words      []uint64
}

func newRegions(ranks int) regions {
	all := make(regions, ranks)
	for p := range all {
		all[p] = new(table)
		all[p].slots.Store(new([]*slot))
	}
	return all
}

// Region implements direct.Memory.
func (all regions) Region(target rma.Rank, slot int, generation uint64) []uint64 {
	slots := *all[target].slots.Load()
	if slot >= len(slots) {
		return nil
	}
	if r := slots[slot].region.Load(); r != nil && r.generation == generation {
		return r.words
	}
	return nil
}

// Attach implements direct.Memory.
func (all regions) Attach(p rma.Rank, words int) (rma.Region, error) {
	if words < 1 || words > rma.MaxRegion {
		return rma.Region{}, &rma.AllocError{Words: words, Free: rma.MaxRegion, Why: rma.ErrNoSpace,
			Hint: "a region has at least one word and at most 1<<32"}
	}
	memory := make([]uint64, words)
	base, err := all[p].add(memory)
	return rma.Region{Base: base, Words: memory}, err
}

// expose makes memory a region of rank p.
func (all regions) expose(p rma.Rank, memory []uint64) (rma.Disp, error) {
	if len(memory) == 0 || len(memory) > rma.MaxRegion {
		return 0, &rma.AllocError{Words: len(memory), Free: rma.MaxRegion, Why: rma.ErrNoSpace,
			Hint: "an exposed slice has at least one word and at most 1<<32"}
	}
	return all[p].add(memory)
}

// Detach implements direct.Memory.
func (all regions) Detach(p rma.Rank, base rma.Disp) error { return all[p].remove(base) }

// add puts memory into a free slot.
func (t *table) add(memory []uint64) (rma.Disp, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slots := *t.slots.Load()
	if len(t.free) == 0 {
		if len(slots) == rma.MaxSlots {
			return 0, &rma.AllocError{Words: len(memory), Why: rma.ErrNoSpace,
				Hint: fmt.Sprintf("the rank has %d regions already: detach some", rma.MaxSlots)}
		}
		longer := make([]*slot, max(8, 2*len(slots)))
		copy(longer, slots)
		for i := len(slots); i < len(longer); i++ {
			longer[i] = new(slot)
			t.free = append(t.free, i)
		}
		t.slots.Store(&longer)
		slots = longer
	}
	last := len(t.free) - 1
	at := t.free[last]
	t.free = t.free[:last]
	base := rma.Dynamic(at, slots[at].generation)
	_, generation, _ := base.Dynamic()
	slots[at].region.Store(&region{generation: generation, words: memory})
	return base, nil
}

// remove empties the slot that base names.
func (t *table) remove(base rma.Disp) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	slots := *t.slots.Load()
	at, generation, offset := base.Dynamic()
	if !base.IsDynamic() || at >= len(slots) || offset != 0 {
		return fmt.Errorf("mem: detach of %s: %w", base, rma.ErrNotAttached)
	}
	if r := slots[at].region.Load(); r == nil || r.generation != generation {
		return fmt.Errorf("mem: detach of %s: %w", base, rma.ErrNotAttached)
	}
	slots[at].region.Store(nil)
	slots[at].generation++
	t.free = append(t.free, at)
	return nil
}
