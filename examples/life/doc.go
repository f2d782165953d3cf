// Conway's Game of Life on a torus. A glider comes back to where it was.
//
//	go run ./examples/life -soup 120 -sweeps 400 -plot life.gif
package main
