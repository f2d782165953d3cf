package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

func solved(t testing.TB, p problem, grid size, form form) *field {
	t.Helper()
	f := newField(p, grid, form)
	if err := f.alone(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestField compares blocks that are swept at the same time with the sequential
// sweep, bit for bit.
func TestField(t *testing.T) {
	for _, form := range []form{fused, nine} {
		for _, kernel := range kernels {
			for g, grid := range []size{{1, 1}, {1, 5}, {5, 1}, {2, 2}, {3, 5}, {8, 8}} {
				for e, each := range []size{{1, 1}, {1, 7}, {33, 17}} {
					if rings.Sampled() && (g+e)%3 != 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s,%s,%v of %v", form, kernel.name, grid, each), func(t *testing.T) {
						all := grid.times(each)
						p := problem{rows: all.rows, cols: all.cols, iters: 9, kernel: kernel, values: noise}
						f := solved(t, p, grid, form)
						if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
							t.Error(err)
						}
						if _, err := verify(t.Context(), f, show.Silent()); err != nil {
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
		for _, each := range rings.Sampling([]size{{16, 128}, {17, 128}, {32, 128}, {70, 128}, {3, band/2 + 1}}, []size{{17, 128}}) {
			p := problem{rows: 3 * each.rows, cols: 2 * each.cols, iters: 5, kernel: listing(), values: noise}
			f := solved(t, p, size{3, 2}, form)
			if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
				t.Errorf("%s, blocks of %v: %v", form, each, err)
			}
		}
	}
}

// TestFieldOfPasses sweeps blocks several times in a pass, in columns, rows and rectangles.
func TestFieldOfPasses(t *testing.T) {
	for _, kernel := range kernels {
		for _, grid := range []size{{1, 1}, {2, 1}, {5, 1}, {1, 3}, {2, 3}} {
			for _, each := range []size{{4, 1}, {5, 40}, {33, 17}} {
				for _, sweeps := range []int{2, 4} {
					for _, iters := range []int{1, 4, 9} {
						if grid.cols > 1 && each.cols < sweeps {
							continue
						}
						whole := grid.times(each)
						p := problem{rows: whole.rows, cols: whole.cols, iters: iters, sweeps: sweeps, kernel: kernel, values: noise}
						f := solved(t, p, grid, fused)
						if err := compare(t.Context(), f.result(), reference(t, p)); err != nil {
							t.Fatalf("%s, %v blocks of %v, %d iterations, %d in a pass: %v", kernel.name, grid, each, iters, sweeps, err)
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
		if r.all.account.Imports != iters*c.reads || r.all.account.Bytes != 8*iters*c.cells || r.BytesShipped != 0 {
			t.Errorf("%s: %d frontiers and %d bytes were read, want %d and %d, and none shipped", c.form, r.all.account.Imports, r.all.account.Bytes, iters*c.reads, 8*iters*c.cells)
		}
		// In the first iteration initial values come from later tasks, and no task has to wait
		// for them.
		if r.PrefetchHits < c.reads/2 || r.PrefetchHits > r.all.account.Imports {
			t.Errorf("%s: %d of %d reads were hits", c.form, r.PrefetchHits, r.all.account.Imports)
		}
		if r.all.account.Hidden < 0 {
			t.Errorf("%s: %v was hidden", c.form, r.all.account.Hidden)
		}
	}
}

// TestShares checks that a block is in one phase at any time.
func TestShares(t *testing.T) {
	for _, form := range []form{fused, nine} {
		p := problem{rows: 34, cols: 34, iters: 20, kernel: listing(), values: noise}
		f := solved(t, p, size{2, 2}, form)
		for n, a := range f.accounts {
			total := time.Duration(0)
			for _, spent := range a.Spent {
				total += spent
			}
			if total != f.took {
				t.Errorf("%s, block %d: the phases add up to %v, the run took %v", form, n, total, f.took)
			}
		}
		r := newReport(f)
		all := r.all
		if sum := all.computing() + all.queued() + all.waiting() + all.moving(); math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: the shares add up to %v", form, sum)
		}
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
			if err := newField(p, size{3, 2}, form).alone(ctx); !errors.Is(err, cause) {
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
