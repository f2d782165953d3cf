package main

import (
	"context"
	"math"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

func run(t *testing.T) (cells []float64) {
	t.Helper()
	err := orwl.Run(t.Context(), orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) (err error) {
		cells, err = plate(ctx, rt)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// In place, over the whole plate, one colour after the other: the bits are the same.
func TestEqualsSequential(t *testing.T) {
	defer func(n int, end float64) { *sweeps, *little = n, end }(*sweeps, *little)
	*sweeps, *little = 41, -1
	got := run(t)
	n := *side
	row := n + 2
	all := make([]float64, row*row)
	for i := range all {
		all[i] = hot([]int{i/row - 1, i%row - 1})
	}
	for sweep := range *sweeps {
		for y := range n {
			at := (y+1)*row + 1
			cells := func(by int) []float64 { return all[at+by : at+by+n] }
			relax(cells(0), cells(-row), cells(row), cells(-1), cells(1), (y+sweep)&1)
		}
	}
	for i, v := range got {
		if want := all[(i/n+1)*row+i%n+1]; math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf("row %d, column %d is %v, want %v", i/n, i%n, v, want)
		}
	}
}

// At the end each cell is nearly the mean of its neighbours.
func TestConverges(t *testing.T) {
	cells := run(t)
	n := *side
	for y := 1; y < n-1; y++ {
		for x := 1; x < n-1; x++ {
			i := y*n + x
			if mean := (cells[i-n] + cells[i+n] + cells[i-1] + cells[i+1]) / 4; math.Abs(mean-cells[i]) > *little {
				t.Fatalf("row %d, column %d is %v, and the mean of its neighbours %v", y, x, cells[i], mean)
			}
		}
	}
	if cells[n/2*n] < 0.5 {
		t.Errorf("the warm edge is %v", cells[n/2*n])
	}
}
