// Red-black Gauss-Seidel on the plate of examples/gaussseidel, with over-relaxation. The cells of a
// chessboard have two colours, and each sweep has a stage for each. A cell has neighbours of the
// other colour only, so that all cells of a stage can be computed at the same time, and in place.
//
//	go run ./examples/redblack -side 200
package main
