package forms

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"runtime"
	"slices"
	"time"

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
