package main

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
)

// reference is the whole matrix after p's sequential sweep.
func reference(t testing.TB, p problem) *block {
	t.Helper()
	b, err := p.newBlock(context.Background(), p.whole())
	if err != nil {
		t.Fatal(err)
	}
	var swept atomic.Int64
	if err := p.sequential(context.Background(), b, &swept); err != nil {
		t.Fatal(err)
	}
	if swept.Load() != p.updates() {
		t.Fatalf("%d elements were swept, want %d", swept.Load(), p.updates())
	}
	return b
}

// rows is all rows of a plane.
func rows(m matrix) iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		for i := range len(m.cells) / m.cols {
			if !yield(i, m.row(i)) {
				return
			}
		}
	}
}

func sha(t testing.TB, all iter.Seq2[int, []float64]) string {
	t.Helper()
	text, err := digest(context.Background(), all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestKnownResults compares with matrices that another program computed, in
// another language, from the text of the specification alone.
func TestKnownResults(t *testing.T) {
	for _, c := range []struct {
		rows, cols, iters int
		want              string
	}{
		{1, 1, 0, "e8bc196b5ae3f651ed750c40bb7a148d53ca46483955a5c2937de448e4ebcadd"},
		{2, 3, 0, "0e47480fe1ba33ffb3a5423744953d2f24c4988bd82715667c5ed115af3b19da"},
		{1, 1, 1, "efa688b649fbba8a019106653c22e3df2b9de0fc5c380b3825a15523ec110b03"},
		{1, 7, 5, "6e022e5506d85ad19fa54dcae6988958e4069a7298af438032c9cf138179d345"},
		{7, 1, 5, "a473dbb20ff448a593ad52c8e46e035b68d4f558fc7507fee86606850c1d06fe"},
		{33, 17, 10, "4f2ec1d4092ef763e8cd3bd0ec33efb31fbf04bb13b6a8f9131a317a47549648"},
		{64, 64, 25, "9bffeb8c3c4f216f40fc09509ca4105631dda7fe1ac53c475e287db3fae44ac8"},
	} {
		p := problem{rows: c.rows, cols: c.cols, iters: c.iters, kernel: listing(), values: noise}
		if got := sha(t, rows(reference(t, p).planes[planeData])); got != c.want {
			t.Errorf("%d by %d, %d iterations: sha256 %s, want %s", c.rows, c.cols, c.iters, got, c.want)
		}
	}
}

func TestSequentialStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := problem{rows: 3, cols: 3, iters: 1 << 30, values: noise}
	p.kernel = kernel{"cancelling", func(*block, int, int) { cancel() }}
	b, err := p.newBlock(ctx, p.whole())
	if err != nil {
		t.Fatal(err)
	}
	var swept atomic.Int64
	if err := p.sequential(ctx, b, &swept); err != context.Canceled {
		t.Errorf("the sweep ends with %v, want %v", err, context.Canceled)
	}
	if _, err := p.newBlock(ctx, p.whole()); err != context.Canceled {
		t.Errorf("making a block ends with %v, want %v", err, context.Canceled)
	}
}
