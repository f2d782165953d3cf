//go:build race

package locks_test

// The simulator runs one rank at a time: the race detector makes that ten times
// slower and finds nothing in it.
const (
	someSeeds     = 8
	someStates    = 300
	someSchedules = 1
	someRounds    = 6

	raceDetector = true
)
