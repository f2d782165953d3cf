package main

import (
	"context"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/exact"
)

// dot is the sum of the rounded products, rounded once.
func dot(x, y []float64) float64 {
	var s exact.Sum
	s.Dot(x, y)
	return s.Value()
}

// sequential solves the same without tasks.
func sequential() (x []float64, rounds int) {
	size := *n * *n
	x, q, r, p := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size+2**n)
	inner := p[*n : *n+size]
	for k := range r {
		r[k], inner[k] = 1, 1
	}
	first := float64(size)
	for rr := first; rounds == 0 || rr > small*small*first; rounds++ {
		laplace(q, p, *n)
		alpha := rr / dot(inner, q)
		for k := range x {
			x[k] += float64(alpha * inner[k])
			r[k] -= float64(alpha * q[k])
		}
		next := dot(r, r)
		beta := next / rr
		for k := range inner {
			inner[k] = r[k] + float64(beta*inner[k])
		}
		rr = next
	}
	return x, rounds
}

// Any number of strips takes as many rounds as the sequential form, and gives the same bits.
func TestEqualsSequential(t *testing.T) {
	defer func(side, cut int) { *n, *strips = side, cut }(*n, *strips)
	*n = 37
	want, rounds := sequential()
	if rounds < 10 {
		t.Fatalf("only %d rounds", rounds)
	}
	for _, *strips = range []int{1, 2, 7, *n} {
		err := orwl.Run(t.Context(), orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) error {
			got, took, err := solve(ctx, rt)
			if err == nil && (took != rounds || !slices.Equal(got, want)) {
				t.Errorf("%d strips: %d rounds, want %d, and the same bits: %t", *strips, took, rounds, slices.Equal(got, want))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
