package main

import (
	"slices"
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
	}{{0, 40, false}, {3, 40, false}, {4, 40, true}, {4, 1, true}, {4, 0, false}, {9, 33, true}} {
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

func TestSpacing(t *testing.T) {
	all := make([]float64, 200)
	even := make([][]float64, 6)
	for i := range even {
		even[i] = all[40+i*20:][:12]
	}
	for elsewhere := range even {
		rows := slices.Clone(even)
		rows[elsewhere] = all[elsewhere*20+1:][:12] // a border row, for instance
		row := func(i int) []float64 { return rows[i] }
		outer := elsewhere < 2 || elsewhere > 3
		if _, got := spacing(row, 0, 5); got == outer {
			t.Errorf("with row %d elsewhere the rows are even: %v, want %v", elsewhere, got, !outer)
		}
	}
	if step, got := spacing(func(i int) []float64 { return even[i] }, 0, 5); step != 160 || !got {
		t.Errorf("the rows are %d bytes from one to the next, even: %v, want 160 and true", step, got)
	}
}
