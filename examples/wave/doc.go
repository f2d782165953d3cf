// A wave on a membrane whose edge is fixed. It needs two generations: New holds the one before
// Old until the kernel writes it.
//
//	go run ./examples/wave -side 400 -sweeps 5000 -plot wave.gif
package main
