package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// quiet is a meter without a reader.
func quiet() *meter { return newMeter(io.Discard, slog.New(slog.DiscardHandler)) }

// knownKernels are all that -kernel names.
func knownKernels(t testing.TB) []kernel {
	var all []kernel
	for _, name := range kernelNames() {
		k, ok := kernelByName(name)
		if !ok {
			t.Fatalf("no kernel is called %s", name)
		}
		all = append(all, k)
	}
	return all
}

func solved(t testing.TB, p problem, grid size, form form) *measured {
	t.Helper()
	done, err := newField(p, grid, form).solve(t.Context(), nil, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// TestField compares blocks that are swept at the same time with the sequential
// sweep, bit for bit.
func TestField(t *testing.T) {
	for _, form := range []form{fused, nine} {
		for _, kernel := range knownKernels(t) {
			for _, grid := range []size{{1, 1}, {1, 5}, {5, 1}, {2, 2}, {3, 5}, {8, 8}} {
				for _, each := range []size{{1, 1}, {1, 7}, {33, 17}} {
					t.Run(fmt.Sprintf("%s,%s,%v of %v", form, kernel.name, grid, each), func(t *testing.T) {
						all := grid.times(each)
						p := problem{rows: all.rows, cols: all.cols, iters: 9, kernel: kernel, values: noise}
						f := solved(t, p, grid, form)
						if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
							t.Error(err)
						}
						if f.swept() != p.updates() {
							t.Errorf("%d elements were swept, want %d", f.swept(), p.updates())
						}
						if _, err := verify(t.Context(), f.field, quiet()); err != nil {
							t.Error(err)
						}
					})
				}
			}
		}
	}
}

// TestFieldInBands sweeps blocks that have several bands, where the first and the last do not
// meet.
func TestFieldInBands(t *testing.T) {
	for _, form := range []form{fused, nine} {
		for _, each := range []size{{16, 128}, {17, 128}, {32, 128}, {70, 128}, {3, band/2 + 1}} {
			p := problem{rows: 3 * each.rows, cols: 2 * each.cols, iters: 5, kernel: listing(), values: noise}
			f := solved(t, p, size{3, 2}, form)
			if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
				t.Errorf("%s, blocks of %v: %v", form, each, err)
			}
		}
	}
}

func TestBands(t *testing.T) {
	for _, c := range []struct {
		rows, cols, below, sweeps int
		band, bands               int
		cuts                      []int // between a northern and a southern neighbour
	}{
		{1, 1, 0, 1, 2048, 1, []int{0, 1}},
		{16, 16, 0, 1, 128, 1, []int{0, 1}},
		{200, 16, 0, 1, 128, 2, []int{0, 1, 2}},
		{16, 128, 0, 1, 16, 1, []int{0, 1}},
		{17, 128, 0, 1, 16, 2, []int{0, 1, 2}},
		{500, 500, 0, 1, 125, 4, []int{0, 1, 3, 4}},
		{3, band, 0, 1, 1, 3, []int{0, 1, 2, 3}},
		{2, 2 * band, 0, 1, 1, 2, []int{0, 1, 2}},
		{16, 16, 1, 2, 4, 5, []int{0, 1, 3, 5}},
		{500, 500, 3, 4, 4, 126, []int{0, 1, 124, 126}},
		{4, 9, 3, 4, 4, 2, []int{0, 1, 2}},         // the first band needs the south
		{33, 9, 19, 20, 4, 13, []int{0, 3, 5, 13}}, // it is needed before the north is complete
		{40, 9, 39, 40, 4, 20, []int{0, 10, 20}},
	} {
		e := extent{rows: c.rows, cols: c.cols, above: c.below, below: c.below}
		if rows, bands := e.band(c.sweeps), e.bands(c.sweeps); rows != c.band || bands != c.bands {
			t.Errorf("%d rows of %d, %d sweeps: %d bands of %d rows, want %d of %d", c.rows, c.cols, c.sweeps, bands, rows, c.bands, c.band)
		}
		if cuts := e.cuts(c.sweeps, true, true); !slices.Equal(cuts, c.cuts) {
			t.Errorf("%d rows of %d, %d sweeps: cut at %v, want %v", c.rows, c.cols, c.sweeps, cuts, c.cuts)
		}
		if cuts := e.cuts(c.sweeps, false, false); len(cuts) != 2 {
			t.Errorf("%d rows of %d, %d sweeps: cut at %v without neighbours", c.rows, c.cols, c.sweeps, cuts)
		}
	}
}

// TestFieldOfPasses sweeps blocks several times in a pass.
func TestFieldOfPasses(t *testing.T) {
	for _, kernel := range knownKernels(t) {
		for _, rows := range []int{1, 2, 5} {
			for _, each := range []size{{4, 1}, {5, 40}, {33, 17}, {8, 70}} {
				for _, sweeps := range []int{2, 3, 4} {
					for _, iters := range []int{1, 4, 9} {
						p := problem{rows: rows * each.rows, cols: each.cols, iters: iters, sweeps: sweeps, kernel: kernel, values: noise}
						f := solved(t, p, size{rows, 1}, fused)
						if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
							t.Fatalf("%s, %d blocks of %v, %d iterations, %d in a pass: %v", kernel.name, rows, each, iters, sweeps, err)
						}
						if f.swept() != p.updates() || f.share() != p.updates() {
							t.Errorf("%d elements were swept and %d to be swept, want %d", f.swept(), f.share(), p.updates())
						}
					}
				}
			}
		}
	}
}

// TestFieldOfLFK sweeps the original kernel's planes in blocks.
func TestFieldOfLFK(t *testing.T) {
	for _, grid := range []size{{1, 1}, {5, 1}, {1, 99}, {5, 9}} {
		p := lfkProblem(100, 10, kernel{"original", sweepOriginal})
		f := solved(t, p, grid, fused)
		b := &block{extent: p.whole()}
		b.planes[planeData] = newMatrix(p.rows+2, p.cols+2)
		for i, row := range f.result() {
			copy(b.row(i), row)
		}
		if got, want := lfkChecksum(100, b), "3.228104575530876e+04"; got != want {
			t.Errorf("%v blocks: checksum %s, published %s", grid, got, want)
		}
	}
}

// TestCorners checks that the paper's form brings a block all of its border: a
// stencil with corners could be computed on it.
func TestCorners(t *testing.T) {
	for _, each := range []size{{1, 1}, {2, 3}} {
		grid, iters := size{3, 4}, 3
		all := grid.times(each)
		p := problem{rows: all.rows, cols: all.cols, iters: iters, values: noise}
		p.kernel = kernel{"counting", func(b *block, from, to int) {
			for i := from; i < to; i++ {
				for j := 1; j <= b.cols; j++ {
					b.row(i)[j]++
				}
			}
		}}
		f := solved(t, p, grid, nine)
		for _, part := range f.parts {
			for d := range directions {
				r := part.block.border(d)
				i, j := part.block.top-1+r.top, part.block.left-1+r.left
				want := noise(planeData, i, j)
				if f.neighbour(part, d) != nil {
					n := iters
					if !d.earlier() {
						n--
					}
					for range n {
						want++
					}
				}
				if got := part.block.row(r.top)[r.left]; got != want {
					t.Errorf("%v of %v: %v has %v in the %v, want %v", grid, each, part, got, d, want)
				}
			}
		}
	}
}

// TestTally counts what is read: every frontier in every iteration.
func TestTally(t *testing.T) {
	for _, c := range []struct {
		form         form
		reads, cells int64 // in each iteration
	}{
		{fused, 34, 2*8*7 + 2*9*5},
		{nine, 34 + 24, 2*8*7 + 2*9*5 + 24},
	} {
		const iters = 6
		p := problem{rows: 3 * 5, cols: 4 * 7, iters: iters, kernel: listing(), values: noise}
		r := newReport(solved(t, p, size{3, 4}, c.form))
		if r.tally.Reads != iters*c.reads || r.tally.Bytes != 8*iters*c.cells || r.BytesShipped != 0 {
			t.Errorf("%s: %d frontiers and %d bytes were read, want %d and %d, and none shipped", c.form, r.tally.Reads, r.tally.Bytes, iters*c.reads, 8*iters*c.cells)
		}
		// In the first iteration initial values come from later tasks, and no task has to wait
		// for them.
		if r.PrefetchHits < c.reads/2 || r.PrefetchHits > r.tally.Reads {
			t.Errorf("%s: %d of %d reads were hits", c.form, r.PrefetchHits, r.tally.Reads)
		}
		if r.tally.Hidden < 0 {
			t.Errorf("%s: %v was hidden", c.form, r.tally.Hidden)
		}
	}
}

// TestShares checks that a block is in one phase at any time.
func TestShares(t *testing.T) {
	for _, form := range []form{fused, nine} {
		p := problem{rows: 34, cols: 34, iters: 20, kernel: listing(), values: noise}
		f := solved(t, p, size{2, 2}, form)
		for _, w := range f.watches() {
			total := time.Duration(0)
			for _, spent := range w.spent {
				total += spent
			}
			if total != f.took {
				t.Errorf("%s: the phases add up to %v, the run took %v", form, total, f.took)
			}
		}
		r := newReport(f)
		all := r.mean()
		if sum := all.computing() + all.waiting() + all.moving(); math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: the shares add up to %v", form, sum)
		}
	}
}

// TestAheadOfEachOther lets a southern block begin only when the northern one is in
// its second iteration, and end its first one only when the northern one has ended
// its second.
func TestAheadOfEachOther(t *testing.T) {
	// The kernel waits, and keeps its worker meanwhile.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	p := problem{rows: 2 * 64, cols: 128, iters: 2, values: noise}
	began, ended := make(chan bool), make(chan bool)
	var calls [2]atomic.Int64
	failed := false
	wait := func(c chan bool) {
		select {
		case <-c:
		case <-time.After(10 * time.Second):
			failed = true
		}
	}
	p.kernel = kernel{"waiting", func(b *block, from, to int) {
		sweepListing(b, from, to)
		switch n := calls[b.top/64].Add(1); {
		case b.top == 1 && n == 5:
			close(began)
		case b.top == 1 && n == 8:
			close(ended)
		case b.top > 1 && n == 1:
			wait(began)
		case b.top > 1 && n == 3:
			wait(ended)
		}
	}}
	f := solved(t, p, size{2, 1}, fused)
	if failed {
		t.Error("the blocks wait for each other's whole iterations")
	}
	p.kernel = listing()
	if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
		t.Error(err)
	}
}

// TestResultIsOfInteriors checks that copies of neighbours' elements are no part of
// the result, and the ring is.
func TestResultIsOfInteriors(t *testing.T) {
	p := problem{rows: 4, cols: 6, iters: 2, kernel: listing(), values: noise}
	f := solved(t, p, size{2, 3}, nine)
	for _, part := range f.parts {
		for d := range directions {
			if f.neighbour(part, d) != nil {
				r := part.block.border(d)
				for i := range r.rows {
					for j := range r.cols {
						part.block.row(r.top + i)[r.left+j] = math.NaN()
					}
				}
			}
		}
	}
	if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
		t.Error(err)
	}
}

// TestInterrupt ends the context while blocks are swept and others wait for them.
func TestInterrupt(t *testing.T) {
	cause := errors.New("enough")
	for _, form := range []form{fused, nine} {
		for _, after := range []int64{1, 2, 10, 25} {
			ctx, cancel := context.WithCancelCause(context.Background())
			var calls atomic.Int64
			p := problem{rows: 6, cols: 6, iters: 1 << 30, values: noise}
			p.kernel = kernel{"cancelling", func(b *block, from, to int) {
				sweepListing(b, from, to)
				if calls.Add(1) == after {
					cancel(cause)
				}
			}}
			if _, err := newField(p, size{3, 2}, form).solve(ctx, nil, quiet()); !errors.Is(err, cause) {
				t.Errorf("%s, after %d calls: %v, want %v", form, after, err, cause)
			}
		}
	}
}

func TestCompareFindsOneBit(t *testing.T) {
	p := problem{rows: 4, cols: 6, iters: 2, kernel: listing(), values: noise}
	want := reference(t, p)
	f := solved(t, p, size{2, 3}, fused)
	for i := range p.rows + 2 {
		for j := range p.cols + 2 {
			wrong := func(yield func(int, []float64) bool) {
				for at, row := range f.result() {
					if at == i {
						row[j] = math.Float64frombits(math.Float64bits(row[j]) ^ 1)
					}
					if !yield(at, row) {
						return
					}
				}
			}
			if err := compare(t.Context(), wrong, want); !errors.Is(err, errDiffers) {
				t.Errorf("a wrong bit at (%d,%d) is not found: %v", i, j, err)
			}
		}
	}
}
