package rma_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/rma"
)

func TestUntil(t *testing.T) {
	const minusOne = ^uint64(0)
	for _, c := range []struct {
		until   rma.Until
		text    string
		yes, no []uint64
	}{
		{rma.Is(7), "== 7", []uint64{7}, []uint64{0, 6, 8, 7 << 32, minusOne}},
		{rma.IsNot(7), "!= 7", []uint64{0, 6, 8, 7 << 32, minusOne}, []uint64{7}},
		{rma.Below(5), "< 5", []uint64{4, 0, minusOne, 1 << 63}, []uint64{5, 6, 1<<63 - 1}},
		{rma.AtLeast(5), ">= 5", []uint64{5, 6, 1<<63 - 1}, []uint64{4, 0, minusOne, 1 << 63}},
		{rma.Below(minusOne), "< -1", []uint64{minusOne - 1, 1 << 63}, []uint64{minusOne, 0, 1}},
		{rma.Is(0x30).Masked(0xf0), "&0xf0 == 48", []uint64{0x30, 0x1234}, []uint64{0, 0x1243}},
		{rma.IsNot(0).Masked(1 << 63), "&0x8000000000000000 != 0", []uint64{1 << 63, minusOne}, []uint64{0, 1<<63 - 1}},
		{rma.AtLeast(4).Masked(0xff), "&0xff >= 4", []uint64{4, 0xff04}, []uint64{3, 0xff03}},
	} {
		for _, word := range c.yes {
			if !c.until.Holds(word) {
				t.Errorf("%v does not hold for %#x", c.until, word)
			}
		}
		for _, word := range c.no {
			if c.until.Holds(word) {
				t.Errorf("%v holds for %#x", c.until, word)
			}
		}
		if c.until.String() != c.text {
			t.Errorf("the text is %q, want %q", c.until, c.text)
		}
	}
}
