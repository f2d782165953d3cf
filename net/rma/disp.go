package rma

import "fmt"

// Disp is the displacement of a word in a rank's memory, in words.
type Disp int64

// A displacement names symmetric memory by a plain word index, and dynamic
// memory by a slot, the slot's generation and an offset:
//
//	bit 62    61..52       51..32   31..0
//	┌───┬───────────────┬─────────┬─────────────────┐
//	│ 1 │  generation   │  slot   │  offset, words  │
//	└───┴───────────────┴─────────┴─────────────────┘
//
// The generation makes a displacement kept after Detach miss instead of
// reading whatever came next into the slot.
const (
	dynamicBit     = Disp(1) << 62
	generationBits = 10
	slotBits       = 20
	offsetBits     = 32

	// MaxSlots is how many dynamic regions a rank can have at a time.
	MaxSlots = 1 << slotBits
	// MaxRegion is the size of the largest dynamic region, in words.
	MaxRegion = 1 << offsetBits
)

// Dynamic is the displacement of the first word of the region in slot.
func Dynamic(slot int, generation uint64) Disp {
	g := Disp(generation % (1 << generationBits))
	return dynamicBit | g<<(slotBits+offsetBits) | Disp(slot)<<offsetBits
}

// IsDynamic reports whether d names dynamic memory.
func (d Disp) IsDynamic() bool { return d&dynamicBit != 0 && d > 0 }

// Dynamic takes a dynamic displacement apart. The generation is reduced to the
// bits that a displacement keeps.
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
