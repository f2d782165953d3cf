package books

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A bitmap is a sorted list.
func TestBitmap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 63, 64, 65, 4096, 4097, 300_000}).Draw(t, "size")
		b, list := newBits(n), []uint32(nil)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := uint32(rapid.IntRange(0, n-1).Draw(t, "number"))
			at, is := slices.BinarySearch(list, i)
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				if b.set(i); !is {
					list = slices.Insert(list, at, i)
				}
			case 1:
				if is {
					b.clear(i)
					list = slices.Delete(list, at, at+1)
				}
			case 2:
				got, some := b.from(i)
				if some != (len(list) > 0) || some && got != list[at%len(list)] {
					t.Fatalf("from %d: %d, %t of %v", i, got, some, list)
				}
			}
			if b.empty() != (len(list) == 0) {
				t.Fatalf("empty: %t, with %v", b.empty(), list)
			}
		}
	})
}
