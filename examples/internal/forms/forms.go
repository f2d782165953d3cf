package forms

import (
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
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

// Kernel is an example's kernel, and the grid on which it is measured. A cell has one of the types of the examples.
type Kernel[T float64 | uint8 | [4]uint16] struct {
	Name         string // in C, too
	Side, Sweeps int
	Options      stencil.Options // all but Size
	Waves        bool            // New holds the generation before Old
	Away         [][]int         // where the rows are that Row reads
	Row          func(next []T, near [][]T)
	Block        func(u *stencil.Field[T], b *stencil.Block) // of a grid; nil: Row for each row
}

// Square is a cell and all around it, row by row.
var Square = [][]int{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 0}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}

// ranks is how many dimensions the grid has.
func (k Kernel[T]) ranks() int { return len(k.Away[0]) }

// initial is the value of a cell at first. The cells around the grid are counted, too.
func (k Kernel[T]) initial(at []int) (cell T) {
	y, x := 0, at[len(at)-1]+1
	for _, n := range at[:len(at)-1] {
		y += n + 1
	}
	n := (y*7 + x*13) % 101
	switch cell := any(&cell).(type) {
	case *float64:
		*cell = float64(n)
	case *uint8:
		if n%3 == 0 {
			*cell = 1
		}
	case *[4]uint16:
		for i := range cell {
			cell[i] = uint16(600*n + i)
		}
	}
	return cell
}

// checksum is FNV-1a of the cells' bytes.
func checksum[T any](rows ...[]T) uint64 {
	sum := fnv.New64a()
	for _, row := range rows {
		_ = binary.Write(sum, binary.NativeEndian, row) // a hash takes all
	}
	return sum.Sum64()
}

// form sweeps a grid with so many cells on a side. It returns the time that the sweeps took, and the checksum of the cells.
type form func(side, sweeps int) (time.Duration, uint64, error)

// grid is the form of package stencil.
func (k Kernel[T]) grid(side, sweeps int) (time.Duration, uint64, error) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		return 0, 0, err
	}
	o := k.Options
	o.Size = slices.Repeat(stencil.Size{side}, k.ranks())
	g := stencil.New(rt, o)
	fo := stencil.FieldOptions[T]{Halo: stencil.Around(1), Initial: k.initial}
	if k.Waves {
		fo.Previous = k.initial
	}
	u := stencil.NewField(g, "u", fo)
	if err := g.Sweep(sweeps, func(b *stencil.Block) {
		if k.Block != nil {
			k.Block(u, b)
			return
		}
		var rows [9][]T
		near := rows[:len(k.Away)]
		for r := range b.Rows() {
			for i, away := range k.Away {
				near[i] = u.Old(r, away...)
			}
			k.Row(u.New(r), near)
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
	return took, checksum(values), err
}

//go:embed openmp
var openmp embed.FS

// Test compares the forms in Go on a small grid.
func (k Kernel[T]) Test(t *testing.T) {
	_, want, _ := k.plain(1)(24, 5)
	for name, form := range map[string]form{"grid": k.grid, "barrier": k.plain(3)} {
		if _, got, err := form(24, 5); err != nil || got != want {
			t.Errorf("%s: checksum %x, %v, want %x", name, got, err, want)
		}
	}
}

// native is the form in C, which is built for this machine, or nil.
func (k Kernel[T]) native(b *testing.B) form {
	p, err := native.C.Build(b.Context(), native.Source{
		Name: "stencils", Files: openmp, Main: "openmp/stencils.c", Headers: []native.Header{{Name: "omp.h", Debian: "gcc"}},
		Flags: []string{"-ffp-contract=off", "-fopenmp", "-lm"},
	})
	if errors.Is(err, native.ErrMissing) {
		b.Logf("without OpenMP: %v", err)
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close() }) // it removes a temporary folder
	return func(side, sweeps int) (took time.Duration, sum uint64, err error) {
		c := p.Command(context.Background(), 1, k.Name, strconv.Itoa(side), strconv.Itoa(sweeps))
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

// Benchmark plays the forms in turn, and reports the grid's median time for a cell and sweep, and how many times that
// is of each other form's: below 1 the grid is faster.
func (k Kernel[T]) Benchmark(b *testing.B) {
	names := []string{"grid", "sequential", "barrier", "openmp"}
	forms := []form{k.grid, k.plain(1), k.plain(runtime.GOMAXPROCS(0)), k.native(b)}
	took := make([][]time.Duration, len(forms))
	for b.Loop() {
		var want uint64
		for i, form := range forms {
			if form == nil {
				continue
			}
			t, sum, err := form(k.Side, k.Sweeps)
			if i == 0 {
				want = sum
			}
			if err != nil || sum != want {
				b.Fatalf("%s: checksum %x, %v, and the grid's is %x", names[i], sum, err, want)
			}
			took[i] = append(took[i], t)
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2])
	}
	ours := median(took[0])
	for i, all := range took[1:] {
		if all != nil {
			b.ReportMetric(ours/median(all), "of-"+names[i+1])
		}
	}
	cells := math.Pow(float64(k.Side), float64(k.ranks()))
	b.ReportMetric(ours/cells/float64(k.Sweeps), "ns/cell")
	b.ReportMetric(0, "ns/op") // all forms together
}

// array is a grid with the cells around it, by planes, rows and cells; a grid of fewer dimensions has length 1 in
// the first ones, and no cells around it there.
type array[T any] struct {
	size, step, ring [3]int
	cells            [2][]T
}

func (k Kernel[T]) newArray(side int) *array[T] {
	a := &array[T]{size: [3]int{1, 1, 1}, step: [3]int{0, 0, 1}}
	for i := 3 - k.ranks(); i < 3; i++ {
		a.size[i], a.ring[i] = side, 1
	}
	a.step[1] = a.size[2] + 2
	a.step[0] = a.step[1] * (a.size[1] + 2*a.ring[1])
	n := a.step[0] * (a.size[0] + 2*a.ring[0])
	a.cells = [2][]T{make([]T, n), make([]T, n)}
	for i := range a.cells[0] {
		at := []int{i/a.step[0] - a.ring[0], i%a.step[0]/a.step[1] - a.ring[1], i%a.step[1] - 1}[3-k.ranks():]
		a.cells[0][i] = k.initial(at)
	}
	if k.Options.Update == stencil.InPlace {
		a.cells[1] = a.cells[0]
	}
	copy(a.cells[1], a.cells[0])
	return a
}

// rows is how many there are, in all planes.
func (a *array[T]) rows() int { return a.size[0] * a.size[1] }

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

// plain is the form of so many goroutines that meet after each sweep, and in place after each diagonal of blocks.
func (k Kernel[T]) plain(workers int) form {
	return func(side, sweeps int) (time.Duration, uint64, error) {
		a := k.newArray(side)
		begin := time.Now()
		for s := range sweeps {
			k.sweep(a, a.cells[(s+1)%2], a.cells[s%2], workers)
		}
		took := time.Since(begin)
		var rows [][]T
		for row := range a.rows() {
			at := a.first(row)
			rows = append(rows, a.cells[sweeps%2][at:at+side])
		}
		return took, checksum(rows...), nil
	}
}

func (k Kernel[T]) sweep(a *array[T], next, old []T, workers int) {
	if k.Options.Periodic != nil {
		a.wrap(old)
	}
	rows, side := a.rows(), a.size[2]
	share := func(i, of, n int) int { return i * n / of }
	var all sync.WaitGroup
	defer all.Wait()
	switch {
	case k.Options.Update == stencil.InPlace && workers > 1:
		for diagonal := range 2*bands - 1 {
			for i := max(0, diagonal-bands+1); i <= min(diagonal, bands-1); i++ {
				j := diagonal - i
				all.Go(func() {
					k.part(a, next, old, share(i, bands, rows), share(i+1, bands, rows), share(j, bands, side), share(j+1, bands, side))
				})
			}
			all.Wait()
		}
	case k.ranks() == 1:
		for w := range workers {
			all.Go(func() { k.part(a, next, old, 0, 1, share(w, workers, side), share(w+1, workers, side)) })
		}
	default:
		for w := range workers {
			all.Go(func() { k.part(a, next, old, share(w, workers, rows), share(w+1, workers, rows), 0, side) })
		}
	}
}

// part sweeps the cells from left to right of rows from row to to.
func (k Kernel[T]) part(a *array[T], next, old []T, row, to, left, right int) {
	var offsets [9]int
	for i, away := range k.Away {
		for dim, n := range away {
			offsets[i] += n * a.step[3-k.ranks()+dim]
		}
	}
	var room [9][]T
	near := room[:len(k.Away)]
	for ; row < to; row++ {
		at := a.first(row)
		for i := range near {
			near[i] = old[at+left+offsets[i] : at+right+offsets[i]]
		}
		k.Row(next[at+left:at+right], near)
	}
}
