// A cube whose faces are kept at fixed values comes to rest. Each sweep replaces each cell by the
// mean of its six neighbours.
//
//	go run ./examples/jacobi3d -n 192 -sweeps 200 -deep 4 -progress -plot middle.png
package main
