//go:build race

package resource

// How much the tests explore unless they are told: the race detector takes its time,
// and sees nothing here, where one goroutine runs at a time.
const (
	someSeeds  = 200
	someStates = 500
)
