package rma_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/rma"
)

// TestDisp takes displacements apart at the limits of each part.
func TestDisp(t *testing.T) {
	const last = 1<<10 - 1 // the largest generation that a displacement keeps
	for _, c := range []struct {
		at         rma.Disp
		dynamic    bool
		slot       int
		generation uint64
		offset     int
		text       string
	}{
		{at: 0, text: "0"},
		{at: 1<<32 + 5, text: "4294967301"},
		{at: -1, text: "-1"}, // every bit is set, but it names nothing
		{rma.Dynamic(0, 0), true, 0, 0, 0, "region 0.0+0"},
		{rma.Dynamic(7, 3) + 5, true, 7, 3, 5, "region 7.3+5"},
		{rma.Dynamic(rma.MaxSlots-1, last) + rma.MaxRegion - 1, true, rma.MaxSlots - 1, last, rma.MaxRegion - 1, "region 1048575.1023+4294967295"},
		{rma.Dynamic(1, last+1), true, 1, 0, 0, "region 1.0+0"},
	} {
		if c.at.IsDynamic() != c.dynamic {
			t.Errorf("%v is dynamic: %v, want %v", c.at, c.at.IsDynamic(), c.dynamic)
		}
		if c.dynamic {
			if slot, generation, offset := c.at.Dynamic(); slot != c.slot || generation != c.generation || offset != c.offset {
				t.Errorf("%v has slot %d, generation %d, offset %d, want %d, %d, %d", c.at, slot, generation, offset, c.slot, c.generation, c.offset)
			}
		}
		if c.at.String() != c.text {
			t.Errorf("the text is %q, want %q", c.at, c.text)
		}
	}
}
