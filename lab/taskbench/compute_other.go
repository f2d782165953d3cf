//go:build !amd64

package taskbench

func iterate(x, begin *[lanes]float64, iterations int) { iterateHere(x, begin, iterations) }
