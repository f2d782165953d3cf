// A geometric multigrid: V-cycles solve the Poisson equation on a plate. A coarse level is every second row and column of the level
// above, in fields of the same grid. So the levels lie in the same blocks, and exchange by stages as any field does.
//
//	go run ./examples/multigrid
//	go run ./cmd/orwl run -n 2 go run ./examples/multigrid -side 127
//
// A sweep of the grid is a V-cycle. The result has the same bits on any blocks and nodes.
package main
