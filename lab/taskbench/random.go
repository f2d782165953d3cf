package taskbench

import "math/bits"

// uniform is a number from 0 to 1 that the words decide: their SipHash with Task Bench's key.
// So the random patterns and the uneven loads are the same as in Task Bench.
func uniform(words ...int) float64 {
	return float64(sipHash(0x0807060504030201, 0x000f0e0d0c0b0a09, words)) * 0x1p-64
}

// sipHash is SipHash-2-4 (Aumasson and Bernstein, 2012) of words of 64 bits, as bytes in
// little-endian order. The key is k0, k1.
func sipHash(k0, k1 uint64, words []int) uint64 {
	v0, v1 := k0^0x736f6d6570736575, k1^0x646f72616e646f6d
	v2, v3 := k0^0x6c7967656e657261, k1^0x7465646279746573
	rounds := func(n int) {
		for range n {
			v0 += v1
			v2 += v3
			v1 = bits.RotateLeft64(v1, 13) ^ v0
			v3 = bits.RotateLeft64(v3, 16) ^ v2
			v0 = bits.RotateLeft64(v0, 32)
			v2 += v1
			v0 += v3
			v1 = bits.RotateLeft64(v1, 17) ^ v2
			v3 = bits.RotateLeft64(v3, 21) ^ v0
			v2 = bits.RotateLeft64(v2, 32)
		}
	}
	compress := func(m uint64) {
		v3 ^= m
		rounds(2)
		v0 ^= m
	}
	for _, w := range words {
		compress(uint64(w))
	}
	compress(uint64(8*len(words)) << 56) // the length, behind no rest
	v2 ^= 0xff
	rounds(4)
	return v0 ^ v1 ^ v2 ^ v3
}
