//go:build !race

package locks_test

// How much is explored in an ordinary test.
const (
	someSeeds     = 100
	someStates    = 10000
	someSchedules = 8
	someRounds    = 20

	raceDetector = false
)
