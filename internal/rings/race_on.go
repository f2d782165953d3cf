//go:build race

package rings

// Race reports whether the race detector is compiled in.
const Race = true
