//go:build !race

package workers

// How much the tests explore by default.
const (
	someSeeds  = 3000
	someStates = 5_000
)
