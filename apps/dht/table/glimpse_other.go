//go:build !amd64 || race || invariants

package table

// glimpses says that a word may be read while another goroutine writes it: not here.
const glimpses = false
