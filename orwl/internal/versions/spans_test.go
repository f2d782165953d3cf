package versions

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Spans are ordered, and neither overlap nor touch. More than sixteen become one.
func TestSpans(t *testing.T) {
	sixteen := make([]Span, mostSpans)
	for i := range sixteen {
		sixteen[i] = Span{3 * i, 1}
	}
	for _, row := range []struct{ add, want []Span }{
		{[]Span{{4, 0}}, nil},
		{[]Span{{4, 2}, {0, 2}}, []Span{{0, 2}, {4, 2}}},
		{[]Span{{4, 2}, {0, 4}}, []Span{{0, 6}}},
		{[]Span{{4, 2}, {0, 3}}, []Span{{0, 3}, {4, 2}}},
		{[]Span{{0, 9}, {2, 2}}, []Span{{0, 9}}},
		{[]Span{{2, 2}, {0, 9}}, []Span{{0, 9}}},
		{[]Span{{0, 2}, {4, 2}, {8, 2}, {1, 4}}, []Span{{0, 6}, {8, 2}}},
		{[]Span{{0, 1}, {4, 1}, {8, 1}, {12, 1}, {4, 4}}, []Span{{0, 1}, {4, 5}, {12, 1}}},
		{sixteen, sixteen},
		{append(slices.Clone(sixteen), Span{90, 5}), []Span{{0, 95}}},
		{append(slices.Clone(sixteen), Span{3, 4}), slices.Concat([]Span{{0, 1}, {3, 4}}, sixteen[3:])},
	} {
		var s spans
		for _, x := range row.add {
			s.add(x)
		}
		if !slices.Equal(s.all, row.want) {
			t.Errorf("%v: %v, want %v", row.add, s.all, row.want)
		}
	}
}

// Random spans have all bytes that were added.
func TestSpansHaveAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for range 1000 {
		var s spans
		var is [200]bool
		for range rng.IntN(25) {
			x := Span{rng.IntN(190), rng.IntN(5)}
			s.add(x)
			for i := range x.Len {
				is[x.Off+i] = true
			}
		}
		end := -1
		for _, x := range s.all {
			if x.Off <= end || x.Len <= 0 {
				t.Fatalf("%v", s.all)
			}
			end = x.Off + x.Len
			clear(is[x.Off:end])
		}
		if slices.Contains(is[:], true) || len(s.all) > mostSpans {
			t.Fatalf("%v lacks a byte, or has too many", s.all)
		}
	}
}
