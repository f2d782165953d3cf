// Conjugate gradients on a grid: the Poisson equation on a plate, A x = b. A is the Laplacian with x = 0 around the
// plate, and b is 1 in each cell.
//
//	go run ./examples/poisson
//	go run ./cmd/orwl run -n 2 go run ./examples/poisson
//
// The sums are exact: so the result has the same bits on any blocks and nodes, and the same number of sweeps.
package main
