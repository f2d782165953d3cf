//go:build !race

package orwl

const raceEnabled = false
