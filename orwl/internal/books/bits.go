package books

import "math/bits"

// bitmap is a set of numbers in which the next one is found in few steps: a bit of a word above says
// that one of the 64 words below is not empty.
type bitmap [][]uint64

func newBits(n int) (b bitmap) {
	for {
		n = (n + 63) / 64
		b = append(b, make([]uint64, max(n, 1)))
		if n <= 1 {
			return b
		}
	}
}

func (b bitmap) set(i uint32) {
	for _, level := range b {
		word, bit := i/64, uint64(1)<<(i%64)
		if level[word]&bit != 0 {
			return
		}
		level[word] |= bit
		i = word
	}
}

func (b bitmap) clear(i uint32) {
	for _, level := range b {
		word := i / 64
		if level[word] &^= 1 << (i % 64); level[word] != 0 {
			return
		}
		i = word
	}
}

func (b bitmap) empty() bool { return b[len(b)-1][0] == 0 }

// from is the first number that is i or more, or the first of all if there is none.
func (b bitmap) from(i uint32) (n uint32, some bool) {
	if b.empty() {
		return 0, false
	}
	for level := range b {
		if word := i / 64; int(word) < len(b[level]) {
			if rest := b[level][word] >> (i % 64) << (i % 64); rest != 0 {
				return b.down(level, word*64+uint32(bits.TrailingZeros64(rest))), true
			}
		}
		i = i/64 + 1
	}
	return b.down(len(b)-1, uint32(bits.TrailingZeros64(b[len(b)-1][0]))), true
}

// down is the first number below bit i of a level.
func (b bitmap) down(level int, i uint32) uint32 {
	for level--; level >= 0; level-- {
		i = i*64 + uint32(bits.TrailingZeros64(b[level][i]))
	}
	return i
}
