// Gauss-Seidel's method on a plate, until no cell changes by more than a little. All blocks end
// after the same sweep, on any number of nodes.
//
//	go run ./examples/gaussseidel -plot plate.gif
package main
