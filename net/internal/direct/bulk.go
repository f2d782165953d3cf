package direct

import (
	"unsafe"

	"github.com/orwl/go-orwl/net/rma"
)

// PutBytes implements rma.Window.
func (w *Window) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	copy(w.bytes("PutBytes", target, disp, len(src)), src)
}

// GetBytes implements rma.Window.
func (w *Window) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	if memory := w.bytes("GetBytes", target, disp, len(dst)); memory != nil {
		copy(dst, memory)
	} else {
		clear(dst)
	}
}

// bytes is n bytes of memory, whole words, or nil if the window has failed or n is 0.
//
// unsafe: it views words as bytes, in the machine's byte order. A loop over the words
// takes twice as long for 64 bytes and six to ten times as long from 4 KiB on.
func (w *Window) bytes(operation string, target rma.Rank, disp rma.Disp, n int) []byte {
	if n%8 != 0 {
		panic(&rma.AddressError{Operation: operation, Target: target, Disp: disp, Bytes: n,
			Why: "a bulk transfer moves whole words: round its length up to a multiple of 8"})
	}
	words := w.words(operation, target, disp, n/8)
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}
