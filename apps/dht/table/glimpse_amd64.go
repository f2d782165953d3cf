//go:build !race && !invariants

package table

// glimpses says that ordinary instructions may read a word while another goroutine writes it.
// On this processor the reader gets the old or the new word, and sees stores in the order in
// which they were made. The race detector does not know this.
const glimpses = true
