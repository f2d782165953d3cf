// Package specimen is small enough to know each of its mutants.
package specimen

// Larger is the larger of two.
func Larger(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// Wait waits until it may go on.
func Wait(may func() bool) {
	for n := 0; !may(); n++ {
		if n < 0 {
			return
		}
	}
}
