package examples_test

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/native"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// The examples' kernels on larger grids, in four forms: a grid of package stencil, one goroutine, goroutines that
// meet at a barrier after each sweep, and C with OpenMP. All add in the same order, so their cells are the same,
// bit for bit.

//go:embed peers/stencils.c
var peers embed.FS

// form runs a kernel over a grid with so many cells on a side. It returns the time of the sweeps and a checksum of
// the cells.
type form func(side, sweeps int) (time.Duration, uint64, error)

// subject is a kernel with its forms.
type subject struct {
	name         string
	ranks        int
	side, sweeps int // of the benchmark
	grid         form
	goroutines   func(workers int) form
}

// kernel is what the forms in Go share. row computes a row from the rows that are away from it.
type kernel[T any] struct {
	options stencil.Options // all but Size
	ranks   int
	away    [][]int
	row     func(next []T, near [][]T)
	initial func(at []int) T
	back    bool // it has two generations
	words   func(T) []uint64
}

var subjects = []subject{
	kernel[float64]{ranks: 1, away: [][]int{{-1}, {0}, {1}}, row: heatRow, initial: height, words: real}.subject("heat", 1<<20, 100),
	kernel[float64]{ranks: 3, away: [][]int{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}},
		row: cubeRow, initial: height, words: real}.subject("jacobi3d", 192, 20),
	kernel[float64]{ranks: 2, away: [][]int{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}, row: waveRow, initial: height, back: true, words: real}.subject("wave", 2000, 20),
	kernel[float64]{ranks: 2, options: stencil.Options{Update: stencil.InPlace}, away: [][]int{{-1, 0}, {0, -1}, {1, 0}, {0, 1}},
		row: seidelRow, initial: height, words: real}.subject("gaussseidel", 2000, 20),
	kernel[uint8]{ranks: 2, options: stencil.Options{Corners: true, Periodic: []bool{true, true}}, away: square, row: lifeRow, initial: alive,
		words: func(v uint8) []uint64 { return []uint64{uint64(v)} }}.subject("life", 2000, 20),
	kernel[[4]uint16]{ranks: 2, options: stencil.Options{Corners: true}, away: square, row: filterRow, initial: colours,
		words: func(v [4]uint16) []uint64 { return []uint64{uint64(v[0]), uint64(v[1]), uint64(v[2]), uint64(v[3])} }}.subject("filter", 1000, 20),
}

// square is a cell and all around it, row by row.
var square = [][]int{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 0}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}

func real(v float64) []uint64 { return []uint64{math.Float64bits(v)} }

// height counts cells from the ones around the grid, in two dimensions.
func height(at []int) float64 {
	y, x := 0, at[len(at)-1]+1
	for _, n := range at[:len(at)-1] {
		y += n + 1
	}
	return float64((y*7 + x*13) % 101)
}

func alive(at []int) uint8 {
	if (at[0]*7+at[1]*13)%101%3 == 0 {
		return 1
	}
	return 0
}

func colours(at []int) (p [4]uint16) {
	for c := range p {
		p[c] = uint16(600*(((at[0]+1)*7+(at[1]+1)*13)%101) + c)
	}
	return p
}

func heatRow(next []float64, near [][]float64) {
	left, old, right := near[0][:len(next)], near[1][:len(next)], near[2][:len(next)]
	for i := range next {
		next[i] = old[i] + 0.25*(left[i]-2*old[i]+right[i])
	}
}

func cubeRow(next []float64, near [][]float64) {
	n := len(next)
	below, above, north, south, west, east := near[0][:n], near[1][:n], near[2][:n], near[3][:n], near[4][:n], near[5][:n]
	for i := range next {
		next[i] = (below[i] + above[i] + north[i] + south[i] + west[i] + east[i]) / 6
	}
}

func waveRow(next []float64, near [][]float64) {
	n := len(next)
	old, north, south, west, east := near[0][:n], near[1][:n], near[2][:n], near[3][:n], near[4][:n]
	for i := range next {
		next[i] = 2*old[i] - next[i] + 0.25*(north[i]+south[i]+west[i]+east[i]-4*old[i])
	}
}

func seidelRow(cells []float64, near [][]float64) {
	n := len(cells)
	north, west, south, east := near[0][:n], near[1], near[2][:n], near[3][:n]
	before := west[0]
	for i := range cells {
		before = (north[i] + before + south[i] + east[i]) / 4
		cells[i] = before
	}
}

func lifeRow(next []uint8, near [][]uint8) {
	n := len(next)
	a, b, c, d, old, e, f, g, h := near[0][:n], near[1][:n], near[2][:n], near[3][:n], near[4][:n], near[5][:n], near[6][:n], near[7][:n], near[8][:n]
	for i := range next {
		around := a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i]
		next[i] = 0
		if around == 3 || around == 2 && old[i] == 1 {
			next[i] = 1
		}
	}
}

func filterRow(to [][4]uint16, near [][][4]uint16) {
	// A column is a cell, the one above it and the one below, with weights of 1, 2 and 1.
	column := func(above, cell, below [4]uint16) (sum [4]uint32) {
		for c := range sum {
			sum[c] = uint32(above[c]) + 2*uint32(cell[c]) + uint32(below[c])
		}
		return sum
	}
	above, row, below := near[2][:len(to)], near[5][:len(to)], near[8][:len(to)] // one to the east
	west, here := column(near[0][0], near[3][0], near[6][0]), column(near[1][0], near[4][0], near[7][0])
	for i := range to {
		east := column(above[i], row[i], below[i])
		for c := range to[i] {
			to[i][c] = uint16((8 + west[c] + 2*here[c] + east[c]) / 16)
		}
		west, here = here, east
	}
}

func (k kernel[T]) subject(name string, side, sweeps int) subject {
	return subject{name, k.ranks, side, sweeps, k.grid, func(workers int) form {
		return func(side, sweeps int) (time.Duration, uint64, error) { return k.plain(side, sweeps, workers) }
	}}
}

// digest is FNV-1a of words instead of bytes.
type digest uint64

func newDigest() digest { return 14695981039346656037 }

func (d *digest) add(words []uint64) {
	for _, w := range words {
		*d = (*d ^ digest(w)) * 1099511628211
	}
}

// grid is the form of package stencil.
func (k kernel[T]) grid(side, sweeps int) (time.Duration, uint64, error) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		return 0, 0, err
	}
	o := k.options
	o.Size = slices.Repeat(stencil.Size{side}, k.ranks)
	g := stencil.New(rt, o)
	fo := stencil.FieldOptions[T]{Halo: stencil.Around(1), Initial: k.initial}
	if k.back {
		fo.Previous = k.initial
	}
	u := stencil.NewField(g, "u", fo)
	if err := g.Sweep(sweeps, func(b *stencil.Block) {
		var rows [9][]T
		near := rows[:len(k.away)]
		for r := range b.Rows() {
			for i, away := range k.away {
				near[i] = u.Old(r, away...)
			}
			k.row(u.New(r), near)
		}
	}); err != nil {
		return 0, 0, err
	}
	runtime.GC()
	begin := time.Now()
	if err := rt.Run(context.Background()); err != nil {
		return 0, 0, err
	}
	took := time.Since(begin)
	values, err := u.Values(context.Background())
	d := newDigest()
	for _, v := range values {
		d.add(k.words(v))
	}
	return took, uint64(d), err
}

// array is a grid with the cells around it, by planes, rows and cells; a grid of fewer dimensions has length 1 in
// the first ones, and no cells around it there.
type array[T any] struct {
	size, step, ring [3]int
	cells            [2][]T
}

func (k kernel[T]) newArray(side int) *array[T] {
	a := &array[T]{size: [3]int{1, 1, 1}, step: [3]int{0, 0, 1}}
	for i := 3 - k.ranks; i < 3; i++ {
		a.size[i], a.ring[i] = side, 1
	}
	a.step[1] = a.size[2] + 2
	a.step[0] = a.step[1] * (a.size[1] + 2*a.ring[1])
	n := a.step[0] * (a.size[0] + 2*a.ring[0])
	a.cells = [2][]T{make([]T, n), make([]T, n)}
	for i := range a.cells[0] {
		at := []int{i/a.step[0] - a.ring[0], i%a.step[0]/a.step[1] - a.ring[1], i%a.step[1] - 1}[3-k.ranks:]
		a.cells[0][i] = k.initial(at)
	}
	copy(a.cells[1], a.cells[0])
	return a
}

// first is the index of a row's first cell. Rows are numbered through all planes.
func (a *array[T]) first(row int) int {
	return (row/a.size[1]+a.ring[0])*a.step[0] + (row%a.size[1]+a.ring[1])*a.step[1] + 1
}

// wrap copies the cells at the edges of a torus to its other side.
func (a *array[T]) wrap(cells []T) {
	n, row := a.size[1], a.step[1]
	for y := 1; y <= n; y++ {
		cells[y*row], cells[y*row+n+1] = cells[y*row+n], cells[y*row+1]
	}
	copy(cells[:row], cells[n*row:])
	copy(cells[(n+1)*row:], cells[row:2*row])
}

// bands is how many parts a side of a grid in place has: blocks on a diagonal are swept at the same time.
const bands = 8

// plain is goroutines that meet after each sweep, and in place after each diagonal of blocks.
func (k kernel[T]) plain(side, sweeps, workers int) (time.Duration, uint64, error) {
	a := k.newArray(side)
	var offsets []int
	for _, away := range k.away {
		offset := 0
		for i, n := range away {
			offset += n * a.step[3-k.ranks+i]
		}
		offsets = append(offsets, offset)
	}
	// part sweeps the cells from left to right of rows from row to to.
	rows := a.size[0] * a.size[1]
	part := func(next, old []T, row, to, left, right int) {
		var room [9][]T
		near := room[:len(offsets)]
		for ; row < to; row++ {
			at := a.first(row)
			for i, offset := range offsets {
				near[i] = old[at+left+offset : at+right+offset]
			}
			k.row(next[at+left:at+right], near)
		}
	}
	share := func(i, of, n int) int { return i * n / of }
	begin := time.Now()
	for s := range sweeps {
		old, next := a.cells[s%2], a.cells[(s+1)%2]
		if k.options.Update == stencil.InPlace {
			old = a.cells[0]
		}
		if k.options.Periodic != nil {
			a.wrap(old)
		}
		var all sync.WaitGroup
		switch {
		case k.options.Update == stencil.InPlace && workers == 1:
			part(old, old, 0, rows, 0, side)
		case k.options.Update == stencil.InPlace:
			for diagonal := range 2*bands - 1 {
				for i := max(0, diagonal-bands+1); i <= min(diagonal, bands-1); i++ {
					j := diagonal - i
					all.Go(func() {
						part(old, old, share(i, bands, rows), share(i+1, bands, rows), share(j, bands, side), share(j+1, bands, side))
					})
				}
				all.Wait()
			}
		case k.ranks == 1:
			for w := range workers {
				all.Go(func() { part(next, old, 0, 1, share(w, workers, side), share(w+1, workers, side)) })
			}
		default:
			for w := range workers {
				all.Go(func() { part(next, old, share(w, workers, rows), share(w+1, workers, rows), 0, side) })
			}
		}
		all.Wait()
	}
	took := time.Since(begin)
	result := a.cells[sweeps%2]
	if k.options.Update == stencil.InPlace {
		result = a.cells[0]
	}
	d := newDigest()
	for row := range rows {
		at := a.first(row)
		for _, v := range result[at : at+a.size[2]] {
			d.add(k.words(v))
		}
	}
	return took, uint64(d), nil
}

// TestForms compares the forms in Go on small grids.
func TestForms(t *testing.T) {
	for _, s := range subjects {
		_, want, err := s.goroutines(1)(24, 5)
		if err != nil {
			t.Fatal(err)
		}
		for name, form := range map[string]form{"grid": s.grid, "barrier": s.goroutines(3)} {
			if _, got, err := form(24, 5); err != nil || got != want {
				t.Errorf("%s, %s: checksum %x, %v, want %x", s.name, name, got, err, want)
			}
		}
	}
}

// openMP is a form in C, which is built for this machine.
func openMP(p *native.Program, name string) form {
	return func(side, sweeps int) (took time.Duration, sum uint64, err error) {
		c := p.Command(context.Background(), 1, name, strconv.Itoa(side), strconv.Itoa(sweeps))
		c.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", runtime.GOMAXPROCS(0)))
		out, err := c.Output()
		if err != nil {
			return 0, 0, fmt.Errorf("%v: %w", c, err)
		}
		var seconds float64
		_, err = fmt.Sscanf(string(out), "%g %x", &seconds, &sum)
		return time.Duration(seconds * 1e9), sum, err
	}
}

// BenchmarkExamples plays the forms in turn, and reports the grid's median time for a cell and sweep, and how many
// times that is of each other form's: below 1 the grid is faster.
func BenchmarkExamples(b *testing.B) {
	program, err := native.C.Build(b.Context(), native.Source{
		Name: "stencils", Files: peers, Main: "peers/stencils.c", Headers: []native.Header{{Name: "omp.h", Debian: "gcc"}},
		Flags: []string{"-ffp-contract=off", "-fopenmp", "-lm"},
	})
	switch {
	case errors.Is(err, native.ErrMissing):
		b.Logf("without OpenMP: %v", err)
	case err != nil:
		b.Fatal(err)
	default:
		defer program.Close()
	}
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			forms := []struct {
				name string
				form
				took []time.Duration
			}{{"grid", s.grid, nil}, {"sequential", s.goroutines(1), nil}, {"barrier", s.goroutines(runtime.GOMAXPROCS(0)), nil}, {"openmp", nil, nil}}
			if program == nil {
				forms = forms[:3]
			} else {
				forms[3].form = openMP(program, s.name)
			}
			for b.Loop() {
				var want uint64
				for i := range forms {
					f := &forms[i]
					took, sum, err := f.form(s.side, s.sweeps)
					if i == 0 {
						want = sum
					}
					if err != nil || sum != want {
						b.Fatalf("%s: checksum %x, %v, and the grid's is %x", f.name, sum, err, want)
					}
					f.took = append(f.took, took)
				}
			}
			median := func(all []time.Duration) float64 {
				slices.Sort(all)
				return float64(all[len(all)/2])
			}
			ours := median(forms[0].took)
			for _, f := range forms[1:] {
				b.ReportMetric(ours/median(f.took), "of-"+f.name)
			}
			cells := math.Pow(float64(s.side), float64(s.ranks))
			b.ReportMetric(ours/cells/float64(s.sweeps), "ns/cell")
			b.ReportMetric(0, "ns/op") // all forms together
		})
	}
}
