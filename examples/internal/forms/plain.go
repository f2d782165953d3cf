package forms

import (
	"sync"
	"time"

	"github.com/orwl/go-orwl/orwl/stencil"
)

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
