package show

import (
	"context"
	"math"

	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/files"
	"github.com/orwl/go-orwl/orwl/stencil/internal/inside"
	"github.com/orwl/go-orwl/orwl/stencil/picture"
)

// View is how a field is drawn.
type View struct {
	// Title is the field's name by default.
	Title string
	// Least and Most are the ends of the legend: see Between. If both are zero, the values decide: in
	// a film, the values of all frames.
	Least, Most float64
	// Palette and Label are the panel's.
	Palette picture.Palette
	Label   func(v float64) string

	source source
}

// Between sets the ends of the legend. Values beyond them have the colours of the ends.
func (v View) Between(least, most float64) View {
	v.Least, v.Most = least, most
	return v
}

// source is a field of any type.
type source interface {
	grid() inside.Grid
	field() files.Field
	name() string
	frames(body func(sweeps int, last bool, row func(from, to int) []float64, here []bool) (rarer bool))
	values(ctx context.Context) (row func(from, to int) []float64, err error)
	snapshot(ctx context.Context) (row func(from, to int) []float64, first, last int, err error)
}

// Field draws a field of numbers.
func Field[T picture.Number](u *stencil.Field[T]) View {
	return By(u, func(v T) float64 { return float64(v) })
}

// By draws a field of anything else, by a number for each cell.
func By[T any](u *stencil.Field[T], number func(T) float64) View {
	return View{source: field[T]{u, inside.Of(u).(inside.Field[T]), number}}
}

type field[T any] struct {
	of     *stencil.Field[T]
	u      inside.Field[T]
	number func(T) float64
}

func (f field[T]) grid() inside.Grid  { return f.u.Grid() }
func (f field[T]) field() files.Field { return f.of }
func (f field[T]) name() string       { return f.u.Name() }

// row makes numbers of some cells.
func (f field[T]) row(cells []T) func(from, to int) []float64 {
	var numbers []float64
	return func(from, to int) []float64 {
		numbers = numbers[:0]
		for _, c := range cells[from:to] {
			numbers = append(numbers, f.number(c))
		}
		return numbers
	}
}

func (f field[T]) frames(body func(sweeps int, last bool, row func(from, to int) []float64, here []bool) bool) {
	f.u.Frames(1, func(one inside.Frame[T]) bool { return body(one.Sweeps, one.Last, f.row(one.Cells), one.Here) })
}

func (f field[T]) values(ctx context.Context) (func(from, to int) []float64, error) {
	cells, err := f.u.Values(ctx)
	return f.row(cells), err
}

func (f field[T]) snapshot(ctx context.Context) (row func(from, to int) []float64, first, last int, err error) {
	s, err := f.u.Snapshot(ctx)
	return f.row(s.Cells), s.First, s.Last, err
}

// Panel draws the field as it is after the run.
func (v View) Panel(ctx context.Context) (picture.Panel, error) {
	row, err := v.source.values(ctx)
	return v.panel(row, nil), err
}

// panel draws what row gives: the cells of the grid, in its order, from one to another. Cells that are not here
// add nothing to the picture. All are if here is nil.
func (v View) panel(row func(from, to int) []float64, here []bool) picture.Panel {
	size := v.source.grid().Size()
	p := picture.Panel{Title: v.Title, Least: v.Least, Most: v.Most, Palette: v.Palette, Label: v.Label, Rows: 1}
	if p.Title == "" {
		p.Title = v.source.name()
	}
	p.Cols = size[len(size)-1]
	first := 0
	switch len(size) {
	case 1:
		p.Curve = true
	case 2:
		p.Rows = size[0]
	case 3:
		p.Rows = size[1]
		first = size[0] / 2 * size[1] * size[2]
	}
	p.Values = func(yield func([]float64) bool) {
		for i := range p.Rows {
			at := first + i*p.Cols
			cells := row(at, at+p.Cols)
			for n, c := range cells {
				if here != nil && !here[at+n] {
					cells[n] = 0
				} else if v.Least < v.Most && !math.IsNaN(c) {
					cells[n] = min(max(c, v.Least), v.Most)
				}
			}
			if !yield(cells) {
				return
			}
		}
	}
	return p
}
