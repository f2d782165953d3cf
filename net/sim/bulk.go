package sim

import "encoding/binary"

// wordsOf copies a bulk transfer's bytes, so that the caller may reuse them.
func wordsOf(src []byte) []uint64 {
	words := make([]uint64, len(src)/8)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(src[8*i:])
	}
	return words
}

// readWords copies words to dst and returns a fingerprint of what it copied.
func readWords(dst []byte, words []uint64) uint64 {
	var print uint64
	for i := range min(len(words), len(dst)/8) {
		binary.NativeEndian.PutUint64(dst[8*i:], words[i])
		print = mix(print ^ words[i])
	}
	return print
}
