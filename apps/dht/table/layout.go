package table

import (
	"encoding/binary"
	"math/bits"
)

// A volume of byte strings is bytes that hold everything: they can be read alone, on any
// machine. All numbers are little-endian, all places multiples of 16, and 0 is no place.
//
//	┌────────┬───────────┬──────────────────────────────────────┬────────┐
//	│ header │ buckets   │ heap: records and free blocks        │ never  │
//	│        │ 8 each    │ side by side                         │ used   │
//	└────────┴───────────┴──────────────────────────────────────┴────────┘
//	0      headerSize    heap                                  bump    size
//
// A bucket is a link, the beginning of a chain of records:
//
//	 63 ........ 40   39 ............ 0
//	tag of the hash │ place of the record / 16
//
// The tag belongs to the record that the link leads to. If the tag differs, a search skips the
// record. A record, or a free block, is a block of a size of its class:
//
//	0   link to the next of the chain, or place of the next free block of the class
//	8   length of the key, 4 bytes; of the value, 4 bytes
//	16  when it expires, in Unix milliseconds; 0 never
//	24  size of the block / 16, 4 bytes; 1 for a record and 0 for a free block, 4 bytes
//	32  key, value
const (
	atMagic   = 0  // the magic number and the version of the layout
	atSize    = 8  // of the volume
	atBuckets = 16 // how many there are, a power of two
	atBump    = 24 // where the heap goes on
	atRecords = 32 // how many there are, also expired ones
	atLive    = 40 // bytes of blocks that are records
	atSoonest = 48 // nothing expires before; 0: nothing expires
	atFree    = 64 // first free block of each class

	magic      = 0x31_6c_6f_76_6c_77_72_6f // "orwlvol1"
	headerSize = atFree + 8*classes

	atNext    = 0
	atKeyLen  = 8
	atValLen  = 12
	atExpires = 16
	atUnits   = 24
	atUsed    = 28
	recordAt  = 32 // where the key is

	unit = 16 // of places and sizes

	placeBits = 40
	placeMask = 1<<placeBits - 1
)

// A volume is never smaller, nor larger: a place has 40 bits, and a key's or a value's
// length 32.
const (
	leastVolume = 8 << 10
	mostVolume  = 4 << 30
)

// heapShare is how many bytes of a volume there are for each bucket, at least: a volume of long values
// has fewer buckets.
const heapShare = 64

// vol is the bytes of a volume. The caller is alone with them.
type vol []byte

func (v vol) word(at uint64) uint64       { return binary.LittleEndian.Uint64(v[at:]) }
func (v vol) setWord(at, n uint64)        { binary.LittleEndian.PutUint64(v[at:], n) }
func (v vol) half(at uint64) uint64       { return uint64(binary.LittleEndian.Uint32(v[at:])) }
func (v vol) setHalf(at uint64, n uint64) { binary.LittleEndian.PutUint32(v[at:], uint32(n)) }

// format makes the bytes an empty volume.
func (v vol) format() {
	buckets := bucketsOf(len(v))
	clear(v[:headerSize+8*buckets])
	v.setWord(atMagic, magic)
	v.setWord(atSize, uint64(len(v)))
	v.setWord(atBuckets, uint64(buckets))
	v.setWord(atBump, v.heap())
}

// bucketsOf is how many buckets a volume of a size has at most.
func bucketsOf(size int) int { return 1 << (bits.Len(uint(size/heapShare)) - 1) }

func (v vol) buckets() uint64 { return v.word(atBuckets) }

// heap is where the heap begins.
func (v vol) heap() uint64 { return heapBehind(v.buckets()) }

// heapBehind is where the heap begins behind so many buckets.
func heapBehind(buckets uint64) uint64 { return (headerSize + 8*buckets + unit - 1) &^ (unit - 1) }

// bucketsFor is how many buckets this volume should have if it has so many bytes: as many as it has
// now, and as many as it will have records like those that it has, but not more than bucketsOf allows.
func (v vol) bucketsFor(size int) uint64 {
	most, records, now := uint64(bucketsOf(size)), v.word(atRecords), v.word(atSize)
	records = max(records, records*uint64(size)/now)
	n := min(v.buckets(), most)
	for n < most && n < records {
		n *= 2
	}
	return n
}

// crowded reports whether there are so many records that searches need more buckets.
func (v vol) crowded() bool {
	return v.word(atRecords) >= 2*v.buckets() && v.buckets() < uint64(bucketsOf(len(v)))
}

// bucket is where the link of a hash's bucket is.
func (v vol) bucket(hash uint64) uint64 { return bucketAt(hash, v.buckets()) }

func bucketAt(hash, buckets uint64) uint64 { return headerSize + 8*(hash&(buckets-1)) }

// link is one to the record at a place, of a hash.
func link(hash, place uint64) uint64 { return tag(hash) | place/unit }

// tag is the part of a hash that stands in a link. Which volume and which bucket it is
// say other bits.
func tag(hash uint64) uint64 { return hash << 16 &^ placeMask }

// place is where a link leads, 0 if nowhere.
func place(link uint64) uint64 { return link & placeMask * unit }

func (v vol) key(at uint64) []byte {
	return v[at+recordAt : at+recordAt+v.half(at+atKeyLen)]
}

func (v vol) value(at uint64) []byte {
	from := at + recordAt + v.half(at+atKeyLen)
	return v[from : from+v.half(at+atValLen)]
}

func (v vol) expires(at uint64) int64 { return int64(v.word(at + atExpires)) }

// blockSize is the size of the block at a place.
func (v vol) blockSize(at uint64) uint64 { return v.half(at+atUnits) * unit }

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
