//go:build race

package workers

// How much the tests explore by default. The race detector is slow, and finds nothing
// here, where one goroutine runs at a time.
const (
	someSeeds  = 200
	someStates = 500
)
