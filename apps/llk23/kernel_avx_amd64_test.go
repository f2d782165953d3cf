package main

import (
	"testing"

	"golang.org/x/sys/cpu"
)

func TestSuitsAVX(t *testing.T) {
	if !cpu.X86.HasAVX {
		t.Skip("this processor has no AVX, so that nothing suits it")
	}
	for _, c := range []struct {
		rows, cols int
		want       bool
	}{{3, 40, true}, {4, 16, true}, {4, 15, false}, {4, 0, false}, {9, 33, true}} {
		if got := suitsAVX(filled(t, c.rows, c.cols, noise)); got != c.want {
			t.Errorf("%d by %d elements suit it: %v, want %v", c.rows, c.cols, got, c.want)
		}
	}
	for p := planeZb; p < planes; p++ {
		b := filled(t, 8, 40, noise)
		b.planes[p] = newMatrix(8, 41)
		if suitsAVX(b) {
			t.Errorf("plane %d suits it, whose rows are longer than those of the other planes", p)
		}
	}
}
