//go:build !amd64 || race

package rows

func vectors([]float64, Weights, [][]float64, lines) bool { return false }
