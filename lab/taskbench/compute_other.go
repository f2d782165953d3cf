//go:build !amd64

package taskbench

func iterate(x *[lanes]float64, iterations int) { iterateHere(x, iterations) }
