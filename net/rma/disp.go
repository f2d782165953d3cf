package rma

import "fmt"

// Disp is the displacement of a word in a rank's segment, in words.
type Disp int64

// A displacement of allocated memory is a plain word index. A displacement of
// dynamic memory has three parts: a slot, the slot's generation and an offset.
//
//	bit 62    61..52       51..32   31..0
//	┌───┬───────────────┬─────────┬─────────────────┐
//	│ 1 │  generation   │  slot   │  offset, words  │
//	└───┴───────────────┴─────────┴─────────────────┘
//
// Each new region in a slot has the next generation. So an access by a
// displacement from before a Detach is refused: it misses the slot's next region.
const (
	dynamicBit     = Disp(1) << 62
	generationBits = 10
	slotBits       = 20
	offsetBits     = 32

	// MaxSlots is the number of dynamic regions that a rank can have at a time.
	MaxSlots = 1 << slotBits
	// MaxRegion is the size of the largest dynamic region, in words.
	MaxRegion = 1 << offsetBits
)

// Dynamic is the displacement of the first word of the region in slot. It keeps
// the low bits of generation.
func Dynamic(slot int, generation uint64) Disp {
	g := Disp(generation % (1 << generationBits))
	return dynamicBit | g<<(slotBits+offsetBits) | Disp(slot)<<offsetBits
}

// IsDynamic reports whether d names dynamic memory.
func (d Disp) IsDynamic() bool { return d&dynamicBit != 0 && d > 0 }

// Dynamic returns the parts of a dynamic displacement. The generation has only
// the bits that fit into a displacement.
func (d Disp) Dynamic() (slot int, generation uint64, offset int) {
	slot = int(d>>offsetBits) & (MaxSlots - 1)
	generation = uint64(d>>(slotBits+offsetBits)) & (1<<generationBits - 1)
	return slot, generation, int(d & (MaxRegion - 1))
}

func (d Disp) String() string {
	if !d.IsDynamic() {
		return fmt.Sprintf("%d", int64(d))
	}
	slot, generation, offset := d.Dynamic()
	return fmt.Sprintf("region %d.%d+%d", slot, generation, offset)
}
