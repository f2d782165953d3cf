//go:build !race

package repeat

// Race reports whether the race detector is compiled in.
const Race = false
