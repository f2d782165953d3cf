package main

import (
	"context"
	"fmt"
	"math"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

const (
	rounds = 100
	grid   = 4        // × grid blocks
	side   = 50       // × side elements in a block
	wide   = side + 2 // a block with the border around it
)

// task is a main task or a sub-task. In each round it writes the resource here and reads the resources there.
type task struct {
	here  *resource.Resource
	there []*resource.Resource
	work  func(here []float64, there []handle.View[float64])
}

// turn does the work of a round. The task holds all: the resource here, then those there.
func (t task) turn(all handle.Vector) error {
	there, err := handle.ReadAll[float64](all[1:])
	if err != nil {
		return err
	}
	here, err := handle.Write[float64](all[0])
	if err != nil {
		return err
	}
	t.work(here, there)
	return nil
}

// part is a block, or one of its frontiers.
type part struct{ row, col, kind int }

// block is the last kind. The others are frontiers.
const block = 4

// kinds tell which elements of its block a part has: first, first+step, and so on. The neighbour that reads a frontier
// lies down and right of the block.
var kinds = [...]struct {
	name                  string
	elements, first, step int
	down, right           int
}{
	{"north", side, wide + 1, 1, -1, 0},
	{"west", side, wide + 1, wide, 0, -1},
	{"south", side, side*wide + 1, 1, 1, 0},
	{"east", side, wide + side, wide, 0, 1},
	block: {name: "block", elements: wide * wide, step: 1},
}

// at is where the block has element n of the part.
func (p part) at(n int) int { return kinds[p.kind].first + n*kinds[p.kind].step }

// opposite is the neighbour's frontier that lies beside frontier p.
func (p part) opposite() part {
	return part{p.row + kinds[p.kind].down, p.col + kinds[p.kind].right, (p.kind + 2) % 4}
}

// matrix has a resource for each part, and none outside of the constant ring around the matrix.
type matrix map[part]*resource.Resource

// newMatrix makes the resources by newArray, and sets their initial values.
func newMatrix(ctx context.Context, newArray func(name string, elements int) (*resource.Resource, error)) (matrix, error) {
	m := matrix{}
	for i := range grid * grid * len(kinds) {
		p := part{i / len(kinds) / grid, i / len(kinds) % grid, i % len(kinds)}
		r, err := newArray(fmt.Sprint(kinds[p.kind].name, " ", p.row, p.col), kinds[p.kind].elements)
		if err != nil {
			return nil, err
		}
		err = orwl.Fill(ctx, r, func(here []float64) {
			for n := range here {
				here[n] = value(0, p.row*side+p.at(n)/wide, p.col*side+p.at(n)%wide)
			}
		})
		if err != nil {
			return nil, err
		}
		m[p] = r
	}
	return m, nil
}

// tasks lists the tasks in the order of their first requests.
func (m matrix) tasks() (all []task) {
	for i := range grid * grid {
		b := part{i / grid, i % grid, block}
		var frontiers []part // neighbours read them
		for kind := range block {
			if p := (part{b.row, b.col, kind}); m[p.opposite()] != nil {
				frontiers = append(frontiers, p)
			}
		}
		all = append(all, m.mainTask(b, frontiers))
		for _, p := range frontiers {
			all = append(all, m.subTask(b, p))
		}
	}
	return all
}

// mainTask copies the neighbours' frontiers into the border of block b, and sweeps the block.
func (m matrix) mainTask(b part, frontiers []part) task {
	t := task{here: m[b]}
	for _, p := range frontiers {
		t.there = append(t.there, m[p.opposite()])
	}
	t.work = func(here []float64, there []handle.View[float64]) {
		for i, p := range frontiers {
			border := kinds[p.kind].down*wide + kinds[p.kind].right // seen from the frontier
			for n, v := range there[i].All() {
				here[p.at(n)+border] = v
			}
		}
		sweep(here, wide, b.row*side, b.col*side)
	}
	return t
}

// subTask copies frontier p out of block b.
func (m matrix) subTask(b, p part) task {
	return task{m[p], []*resource.Resource{m[b]}, func(here []float64, there []handle.View[float64]) {
		for n := range here {
			here[n] = there[0].At(p.at(n))
		}
	}}
}

// checksum is over the elements of all blocks, without their borders.
func (m matrix) checksum(ctx context.Context) (uint64, error) {
	var sum uint64
	for i := range grid * grid {
		cells, err := orwl.Values[float64](ctx, m[part{i / grid, i % grid, block}])
		if err != nil {
			return 0, err
		}
		for row := wide; row <= side*wide; row += wide {
			for _, v := range cells[row+1 : row+1+side] {
				sum = sum*0x9E3779B97F4A7C15 + math.Float64bits(v)
			}
		}
	}
	return sum, nil
}

// sweep is listing 8 of the paper, for rows of width cells. The first cell is in row top and column left of the matrix.
// The conversions forbid the compiler to fuse a product and a sum.
func sweep(cells []float64, width, top, left int) {
	for i := 1; i < len(cells)/width-1; i++ {
		for j := 1; j < width-1; j++ {
			at, y, x := i*width+j, top+i, left+j
			zb, zr, zu, zv, zz := value(1, y, x), value(2, y, x), value(3, y, x), value(4, y, x), value(5, y, x)
			q := float64(cells[at-width]*zb) + float64(cells[at-1]*zv) +
				float64(cells[at+1]*zu) + float64(cells[at+width]*zr) + zz - cells[at]
			cells[at] += float64(0.175 * q)
		}
	}
}

// value is an element of matrix 0 before the first round, or of one of the five constant matrices. These need no lock.
func value(matrix, row, col int) float64 { return float64((row*7+col*13+matrix*29)%101) / 404 }
