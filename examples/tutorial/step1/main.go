// Step 1 of the tutorial: heat spreads over a plate, computed by one goroutine.
//
//	go run ./examples/tutorial/step1
package main

import "github.com/orwl/go-orwl/examples/tutorial/draw"

const size, sweeps = 48, 1000

// plate has a rim of one cell on each side. The upper rim is hot, the others are cold.
func plate() [][]float64 {
	rows := make([][]float64, size+2)
	for r := range rows {
		rows[r] = make([]float64, size+2)
	}
	for c := 1; c <= size; c++ {
		rows[0][c] = 100
	}
	return rows
}

func main() {
	old, next := plate(), plate()
	for range sweeps {
		for r := 1; r <= size; r++ {
			for c := 1; c <= size; c++ {
				around := old[r-1][c] + old[r+1][c] + old[r][c-1] + old[r][c+1]
				next[r][c] = old[r][c] + 0.2*(around-4*old[r][c])
			}
		}
		old, next = next, old
	}
	draw.Plate(size, func(row, column int) float64 { return old[row+1][column+1] })
}
