package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// quiet is a meter that nobody reads.
func quiet() *meter { return newMeter(io.Discard) }

// TestStrips compares strips that sweep at the same time with the sequential
// sweep, bit for bit.
func TestStrips(t *testing.T) {
	for _, c := range []struct{ rows, cols, iters, ranks int }{
		{1, 1, 1, 1}, {1, 1, 7, 1},
		{2, 1, 5, 2}, {2, 7, 1, 2}, // no row travels north in the only iteration
		{3, 1, 5, 2}, {5, 33, 10, 2}, {5, 33, 10, 3}, {5, 33, 10, 5},
		{7, 1, 20, 7}, {8, 8, 20, 8}, // one row each
		{17, 33, 10, 4}, {33, 17, 10, 5}, {40, 64, 30, 16},
		{64, 5, 40, 64}, // far more ranks than processors
	} {
		t.Run(fmt.Sprintf("%dx%d,%d iterations,%d ranks", c.rows, c.cols, c.iters, c.ranks), func(t *testing.T) {
			p := problem{rows: c.rows, cols: c.cols, iters: c.iters, kernel: listing(), values: smooth}
			s, err := sweepStrips(context.Background(), p, c.ranks, quiet())
			if err != nil {
				t.Fatal(err)
			}
			if err := compare(context.Background(), s.result(), reference(t, p)); err != nil {
				t.Error(err)
			}
			if s.swept() != p.updates() {
				t.Errorf("%d elements were swept, want %d", s.swept(), p.updates())
			}
			r := newReport(s)
			if want := int64((c.ranks - 1) * (2*c.iters - 1)); r.Handovers != want || r.BytesShipped != 8*want*int64(c.cols) {
				t.Errorf("%d rows and %d bytes were handed over, want %d rows", r.Handovers, r.BytesShipped, want)
			}
			if _, err := verify(context.Background(), s.strips, quiet()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStripsOfLFK sweeps the original kernel's planes in strips.
func TestStripsOfLFK(t *testing.T) {
	for ranks := 1; ranks <= 5; ranks++ {
		p := lfkProblem(100, 10, kernel{"original", sweepOriginal})
		s, err := sweepStrips(context.Background(), p, ranks, quiet())
		if err != nil {
			t.Fatal(err)
		}
		b := &block{extent: p.whole()}
		b.planes[planeData] = newMatrix(p.rows+2, p.cols+2)
		for i, row := range s.result() {
			copy(b.row(i), row)
		}
		if got, want := lfkChecksum(100, b), "3.228104575530876e+04"; got != want {
			t.Errorf("%d ranks: checksum %s, published %s", ranks, got, want)
		}
	}
}

// TestExtents checks that strips cover all rows in order, and that none is more
// than one row longer than another.
func TestExtents(t *testing.T) {
	for _, c := range []struct{ rows, ranks int }{{1, 1}, {2, 2}, {5, 2}, {7, 3}, {8, 3}, {1000, 64}} {
		s := &strips{problem: problem{rows: c.rows, cols: 3}, parts: make([]*strip, c.ranks)}
		next, sizes := 1, []int{}
		for r := range c.ranks {
			e := s.extent(rma.Rank(r))
			if e.top != next || e.left != 1 || e.cols != 3 {
				t.Errorf("%v: rank %d has %+v, want it to begin in row %d", c, r, e, next)
			}
			next += e.rows
			sizes = append(sizes, e.rows)
		}
		if next != c.rows+1 || slices.Max(sizes)-slices.Min(sizes) > 1 || slices.Min(sizes) < 1 {
			t.Errorf("%v: the strips have %v rows", c, sizes)
		}
	}
}

func TestTooManyRanks(t *testing.T) {
	p := problem{rows: 2, cols: 3, iters: 1, kernel: listing(), values: smooth}
	if _, err := sweepStrips(context.Background(), p, 3, quiet()); err == nil {
		t.Error("3 ranks share 2 rows")
	}
}

func TestTooLittleMemory(t *testing.T) {
	p := problem{rows: 2, cols: 3, iters: 1, kernel: listing(), values: smooth}
	for words := 1; words < stripWords(p.cols); words++ {
		f, err := mem.New(mem.Options{Topology: topology.Flat(2), Words: words})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newStrips(f, p); !errors.Is(err, rma.ErrNoSpace) {
			t.Errorf("with %d words: %v, want %v", words, err, rma.ErrNoSpace)
		}
		f.Close()
	}
}

// TestInterrupt ends the context while ranks sweep and others wait for them.
func TestInterrupt(t *testing.T) {
	cause := errors.New("enough")
	for _, after := range []int64{1, 2, 10, 25} {
		ctx, cancel := context.WithCancelCause(context.Background())
		var calls atomic.Int64
		p := problem{rows: 6, cols: 5, iters: 1 << 30, values: smooth}
		p.kernel = kernel{"cancelling", func(b *block, from, to int) {
			sweepListing(b, from, to)
			if calls.Add(1) == after {
				cancel(cause)
			}
		}}
		if _, err := sweepStrips(ctx, p, 3, quiet()); !errors.Is(err, cause) {
			t.Errorf("after %d calls: %v, want %v", after, err, cause)
		}
	}
}

func TestCompareFindsOneBit(t *testing.T) {
	p := problem{rows: 4, cols: 3, iters: 2, kernel: listing(), values: smooth}
	want := reference(t, p)
	for i := range p.rows + 2 {
		for j := range p.cols + 2 {
			s, err := sweepStrips(context.Background(), p, 2, quiet())
			if err != nil {
				t.Fatal(err)
			}
			for at, row := range s.result() {
				if at == i {
					row[j] = math.Float64frombits(math.Float64bits(row[j]) ^ 1)
				}
			}
			if err := compare(context.Background(), s.result(), want); !errors.Is(err, errDiffers) {
				t.Errorf("a wrong bit at (%d,%d) is not found: %v", i, j, err)
			}
		}
	}
}
