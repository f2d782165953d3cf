// Step 3 of the tutorial: the plate is cut into blocks, which read only the edges of their
// neighbours.
//
//	go run ./examples/tutorial/step3
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/examples/tutorial/draw"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

const (
	size, sweeps = 48, 1000
	blocks       = 3             // in each direction
	side         = size / blocks // of a block
	wide         = side + 2      // a block with its halo
)

// block is the two resources of a block.
type block struct {
	cells *resource.Resource // the block with its halo
	edges *resource.Resource // its neighbours read it
}

// The edges of a block, in their order.
const (
	north = iota
	south
	west
	east
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		return err
	}
	var grid [blocks][blocks]block
	for i := range blocks {
		for j := range blocks {
			grid[i][j].cells = orwl.Array[float64](rt, fmt.Sprintf("cells %d %d", i, j), wide*wide)
			grid[i][j].edges = orwl.Array[float64](rt, fmt.Sprintf("edges %d %d", i, j), 4*side)
		}
	}
	for j := range blocks { // the hot rim
		err := orwl.Fill(ctx, grid[0][j].cells, func(cells []float64) {
			for k := range side {
				cells[k+1] = 100
			}
		})
		if err != nil {
			return err
		}
	}
	for i := range blocks {
		for j := range blocks {
			publish(rt.Task(fmt.Sprintf("publish %d %d", i, j)), grid[i][j])
		}
	}
	for i := range blocks {
		for j := range blocks {
			sweep(rt.Task(fmt.Sprintf("sweep %d %d", i, j)), &grid, i, j)
		}
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}

	var plate [size][size]float64
	for i := range blocks {
		for j := range blocks {
			cells, err := orwl.Values[float64](ctx, grid[i][j].cells)
			if err != nil {
				return err
			}
			for r := range side {
				copy(plate[i*side+r][j*side:], cells[(r+1)*wide+1:(r+2)*wide-1])
			}
		}
	}
	draw.Plate(size, func(row, column int) float64 { return plate[row][column] })
	return nil
}

// publish copies the outermost cells of a block to its edges.
func publish(t *orwl.Task, b block) {
	cells, edges := orwl.Reads[float64](t, b.cells), orwl.Writes[float64](t, b.edges)
	t.Each(sweeps, func(int) error {
		from, to := cells.View(), edges.Slice()
		for k := range side {
			to[north*side+k] = from.At(1*wide + k + 1)
			to[south*side+k] = from.At(side*wide + k + 1)
			to[west*side+k] = from.At((k+1)*wide + 1)
			to[east*side+k] = from.At((k+1)*wide + side)
		}
		return nil
	})
}

// sweep copies the edges of the neighbours into the halo of a block, and computes its cells.
func sweep(t *orwl.Task, grid *[blocks][blocks]block, i, j int) {
	cells := orwl.Writes[float64](t, grid[i][j].cells)
	var halo []func(cells []float64)
	// reads has the block read an edge of a neighbour. Its cell k goes to cell at + k*step.
	reads := func(i, j, edge, at, step int) {
		if i < 0 || i == blocks || j < 0 || j == blocks {
			return // the rim of the plate never changes
		}
		in := orwl.Reads[float64](t, grid[i][j].edges)
		halo = append(halo, func(cells []float64) {
			for k := range side {
				cells[at+k*step] = in.View().At(edge*side + k)
			}
		})
	}
	reads(i-1, j, south, 1, 1)
	reads(i+1, j, north, (side+1)*wide+1, 1)
	reads(i, j-1, east, wide, wide)
	reads(i, j+1, west, wide+side+1, wide)

	old := make([]float64, wide*wide)
	t.Each(sweeps, func(int) error {
		next := cells.Slice()
		for _, fill := range halo {
			fill(next)
		}
		copy(old, next)
		for r := 1; r <= side; r++ {
			for c := 1; c <= side; c++ {
				at := r*wide + c
				around := old[at-wide] + old[at+wide] + old[at-1] + old[at+1]
				next[at] = old[at] + 0.2*(around-4*old[at])
			}
		}
		return nil
	})
}
