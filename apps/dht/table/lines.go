package table

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"unsafe"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// NumbersVolume is a volume of numbers. As in the paper, buckets lie side by side in a table,
// and a heap holds the overflow. But here a cell is a cache line, so that a look-up waits for
// memory once:
//
//	┌────────┬───────────────────────┬───────────────┐
//	│ header │ line 0 .. buckets - 1 │ overflow heap │
//	└────────┴───────────────────────┴───────────────┘
//
//	┌─────────────┬─────┬───────┬─────┬───────┬─────┬───────┬──────┐
//	│ used │ next │ key │ value │ key │ value │ key │ value │ last │
//	└─────────────┴─────┴───────┴─────┴───────┴─────┴───────┴──────┘
//
// Next is the number of the line in which the bucket goes on, 0 if it does not. In a line of
// the table, last is the number of the bucket's last line, 0 if it is this one. Bits of used
// say which pairs there are.
//
// Invariants: all lines of a bucket but the last are full; no line is empty, except one of the
// table; pairs are used from the first on; no key is there twice; a line of the heap is in one
// bucket, or in the free list, or was never taken.
type NumbersVolume struct {
	header  *line
	lines   []line
	buckets uint64
	hash    func(uint64) uint64 // nil: volume.Mix
	_       [16]byte            // its own cache line
}

type line [8]uint64

const lineSize = 64

// The words of the header.
const (
	numbersMagicAt = iota
	numbersBucketsAt
	numbersTakenAt // how many lines of the heap were ever taken
	numbersFreeAt  // the first line of the free list, linked by next; 0 at its end
	numbersCountAt // how many keys there are
)

const numbersMagic = 0x32_6d_75_6e_6c_77_72_6f // "orwlnum2"

// The first word of a line, and where pairs are.
const (
	lineNext = 1<<32 - 1
	lineUsed = 32 // bits from here on
	linePair = 3  // how many
	lineFull = 1<<linePair - 1
	lineKey  = 1
	lineLast = 7
)

// numbersVolume is the volume in these words; they need not be filled yet.
func numbersVolume(words []uint64, hash func(uint64) uint64) *NumbersVolume {
	lines := unsafe.Slice((*line)(unsafe.Pointer(unsafe.SliceData(words))), len(words)/len(line{}))
	heap := (len(lines) - 1) / 5
	return &NumbersVolume{header: &lines[0], lines: lines[1:], buckets: uint64(len(lines) - 1 - heap), hash: hash}
}

// formatNumbers makes zeroed bytes an empty volume.
func formatNumbers(b []byte, hash func(uint64) uint64) *NumbersVolume {
	v := numbersVolume(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8), hash)
	const page = 4096 / lineSize
	for i := 0; i < len(v.lines); i += page {
		v.lines[i] = line{} // otherwise a read would get a page, and a write then another one
	}
	v.header[numbersMagicAt], v.header[numbersBucketsAt] = numbersMagic, v.buckets
	return v
}

// OpenNumbers is a volume of numbers as [Numbers.Snapshot] gives it, to read, in a process of
// the same byte order. Hash is the table's, or nil if its Options have none.
func OpenNumbers(b []byte, hash func(uint64) uint64) (*NumbersVolume, error) {
	if len(b) < leastVolume {
		return nil, fmt.Errorf("%w: %d bytes", ErrDamaged, len(b))
	}
	words := make([]uint64, len(b)/8) // b may lie anywhere
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	v := numbersVolume(words, hash)
	if err := v.check(); err != nil {
		return nil, err
	}
	return v, nil
}

// Len is how many keys there are.
func (v *NumbersVolume) Len() int { return int(v.header[numbersCountAt]) }

// Get returns the value of a key, and whether the key is there.
func (v *NumbersVolume) Get(key uint64) (value uint64, found bool) {
	return v.get(key, hashOf(v.hash, key))
}

// hashOf is the hash of a key, by which a volume chooses the bucket.
func hashOf(hash func(uint64) uint64, key uint64) uint64 {
	if hash == nil {
		return volume.Mix(key) // which is inlined
	}
	return hash(key)
}

func (v *NumbersVolume) bucket(hash uint64) uint64 {
	n, _ := bits.Mul64(hash, v.buckets)
	return n
}

// get compares all keys of a line before it decides. An early exit would make the processor
// guess where the key is, and a wrong guess costs a wait for memory.
func (v *NumbersVolume) get(key, hash uint64) (value uint64, found bool) {
	for n := v.bucket(hash); ; {
		l := &v.lines[n]
		hit := (equal(l[1], key) | equal(l[3], key)<<1 | equal(l[5], key)<<2) & (l[0] >> lineUsed)
		if hit != 0 {
			return l[(lineKey+1+hit&^1)%uint64(len(l))], true
		}
		if n = l[0] & lineNext; n == 0 {
			return 0, false
		}
	}
}

func equal(a, b uint64) (one uint64) {
	if a == b {
		one = 1
	}
	return one
}

// spot is where a key is, or its bucket ends.
type spot struct {
	bucket, line uint64
	before       uint64 // the line before it; none if it is the bucket's line in the table
	pair         int
}

func (v *NumbersVolume) value(s spot) *uint64 { return &v.lines[s.line][lineKey+1+2*s.pair] }

func (v *NumbersVolume) find(key, hash uint64) (s spot, found bool) {
	s.bucket = v.bucket(hash)
	for s.line = s.bucket; ; {
		l := &v.lines[s.line]
		used := l[0] >> lineUsed
		for s.pair = range linePair {
			if l[lineKey+2*s.pair] == key && used>>s.pair&1 != 0 {
				return s, true
			}
		}
		n := l[0] & lineNext
		if n == 0 {
			return s, false
		}
		s.before, s.line = s.line, n
	}
}

// add puts a key behind the last line of its bucket, and reports false if there is no
// room.
func (v *NumbersVolume) add(bucket, last, key, value uint64) bool {
	l := &v.lines[last]
	if l[0]>>lineUsed == lineFull {
		n := v.take()
		if n == 0 {
			return false
		}
		l[0] |= n
		l = &v.lines[n]
		v.lines[bucket][lineLast] = n
	}
	pair := bits.Len64(l[0] >> lineUsed)
	l[lineKey+2*pair], l[lineKey+1+2*pair] = key, value
	l[0] |= 1 << (lineUsed + pair)
	v.header[numbersCountAt]++
	return true
}

// remove takes a key away. The bucket's last pair comes to its place.
func (v *NumbersVolume) remove(s spot) {
	before, last := s.before, s.line
	for n := v.lines[last][0] & lineNext; n != 0; n = v.lines[last][0] & lineNext {
		before, last = last, n
	}
	l, to := &v.lines[last], &v.lines[s.line]
	pair := bits.Len64(l[0]>>lineUsed) - 1
	to[lineKey+2*s.pair], to[lineKey+1+2*s.pair] = l[lineKey+2*pair], l[lineKey+1+2*pair]
	l[0] &^= 1 << (lineUsed + pair)
	v.header[numbersCountAt]--
	if pair > 0 || last == s.bucket {
		return
	}
	v.lines[before][0] &^= lineNext
	v.lines[s.bucket][lineLast] = before
	if before == s.bucket {
		v.lines[s.bucket][lineLast] = 0
	}
	*l = line{v.header[numbersFreeAt]}
	v.header[numbersFreeAt] = last
}

// take returns a line of the heap, 0 if there is none.
func (v *NumbersVolume) take() (n uint64) {
	if n = v.header[numbersFreeAt]; n != 0 {
		v.header[numbersFreeAt] = v.lines[n][0]
		v.lines[n] = line{}
		return n
	}
	if n = v.buckets + v.header[numbersTakenAt]; n >= uint64(len(v.lines)) {
		return 0
	}
	v.header[numbersTakenAt]++
	return n
}

// clear takes everything away.
func (v *NumbersVolume) clear() {
	clear(v.lines)
	v.header[numbersTakenAt], v.header[numbersFreeAt], v.header[numbersCountAt] = 0, 0, 0
}

// All goes through the keys and their values.
func (v *NumbersVolume) All() iter.Seq2[uint64, uint64] {
	return func(yield func(key, value uint64) bool) {
		for i := range v.lines[:v.buckets+v.header[numbersTakenAt]] {
			if !v.lines[i].each(yield) {
				return
			}
		}
	}
}

// each yields the pairs of a line, and reports whether it may go on.
func (l *line) each(yield func(key, value uint64) bool) bool {
	for pair := range bits.Len64(l[0] >> lineUsed) {
		if !yield(l[lineKey+2*pair], l[lineKey+1+2*pair]) {
			return false
		}
	}
	return true
}

// of goes through one bucket.
func (v *NumbersVolume) of(bucket uint64) iter.Seq2[uint64, uint64] {
	return func(yield func(key, value uint64) bool) {
		for n, more := bucket, true; more; more = n != 0 {
			l := &v.lines[n]
			if !l.each(yield) {
				return
			}
			n = l[0] & lineNext
		}
	}
}

// moveTo adds all keys to a volume that has none of them, and reports false if there
// is no room.
func (v *NumbersVolume) moveTo(other *NumbersVolume) bool {
	for key, value := range v.All() {
		bucket := other.bucket(hashOf(v.hash, key))
		last := other.lines[bucket][lineLast]
		if last == 0 {
			last = bucket
		}
		if !other.add(bucket, last, key, value) {
			return false
		}
	}
	return true
}
