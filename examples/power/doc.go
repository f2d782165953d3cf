// Power iteration: does a population on a plate survive? It grows on fertile ground, spreads to all sides, and dies beyond
// the edges. After many years its shape stays the same, and only its number changes: by the greatest eigenvalue of what a
// year does.
//
//	go run ./examples/power
//	go run ./examples/power -growth 0.02 -fence
package main
