package table

import "math/bits"

// Blocks come in sizes of classes: each multiple of 16 up to 1 KiB, then four for each
// power of two. So a block is at most a quarter larger than what is in it.
const (
	evenClasses = 64
	evenMost    = evenClasses * unit
	classes     = evenClasses + 4*(32-10)
)

// classOf is the class for a size.
func classOf(size uint64) int {
	if size <= evenMost {
		return int((size+unit-1)/unit) - 1
	}
	n := size - 1
	log := bits.Len64(n) - 1 // 2^log <= n
	return evenClasses + 4*(log-10) + int(n>>(log-2)&3)
}

// classSize is the size of the blocks of a class.
func classSize(class int) uint64 {
	if class < evenClasses {
		return uint64(class+1) * unit
	}
	class -= evenClasses
	return uint64(5+class%4) << (class/4 + 8)
}

// recordSize is what a record needs.
func recordSize(key, value int) uint64 { return recordAt + uint64(key) + uint64(value) }

// take takes a block for so many bytes out of the heap, 0 if there is none.
func (v vol) take(size uint64) uint64 {
	class := classOf(size)
	free := uint64(atFree + 8*class)
	size = classSize(class)
	at := v.word(free)
	if at != 0 {
		v.setWord(free, v.word(at+atNext))
	} else {
		at = v.word(atBump)
		if at+size > uint64(len(v)) {
			return 0
		}
		v.setWord(atBump, at+size)
		v.setHalf(at+atUnits, size/unit)
	}
	v.setHalf(at+atUsed, 1)
	v.setWord(atLive, v.word(atLive)+size)
	return at
}

// free gives a block back.
func (v vol) free(at uint64) {
	size := v.blockSize(at)
	free := uint64(atFree + 8*classOf(size))
	v.setWord(at+atNext, v.word(free))
	v.setWord(free, at)
	v.setHalf(at+atUsed, 0)
	v.setWord(atLive, v.word(atLive)-size)
}
