//go:build !race

package resource

// How much the tests explore unless they are told.
const (
	someSeeds  = 3000
	someStates = 5_000
)
