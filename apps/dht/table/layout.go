package table

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
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

// Options say how a table is made. They are the same on all nodes, except Nodes. The zero value
// will do for one process.
type Options struct {
	// Nodes are those that the table is spread over; nil is this process alone.
	Nodes *orwl.Nodes
	// Port is the number of the orwl.Port that the table uses, 0 by default: another
	// one for each table of the same nodes.
	Port int
	// Volumes is how many there are, of all nodes together: 64 for each node by
	// default, 1 to 65536. The more, the less do clients meet, and the more do
	// small tables take.
	Volumes int
	// First is how many bytes a volume has in the beginning, 64 KiB by default, and Most
	// how many it may grow to, 64 MiB by default: 8 KiB to 4 GiB, multiples of 16.
	First, Most int
	// Memory, if not nil, is what the volumes take, and the long values of results: an op
	// for which it has no room is ErrFull. A caller that has read such a value gives it back by Memory.Give.
	// Then one Do also answers with few long values at a time, see ErrLater. Volumes grow by small steps.
	Memory *budget.Budget
	// Guard is the lock of each volume, by the name that it has in `orwl locks`: any
	// whose kind is ReaderWriter. "RMA-RW" by default.
	Guard string
	// Watch, if not nil, is called with each volume before the first access to it.
	Watch func(*resource.Resource)
	// Now is the clock that keys expire by, in Unix milliseconds: the real one by
	// default.
	Now func() int64
	// Hash is what keys are spread by. The default is XXH64, which is the same in
	// every process.
	Hash func(key []byte) uint64
}

// Defaults and limits of Options.
const (
	volumesPerNode = 64
	mostVolumes    = 1 << 16
	firstVolume    = 64 << 10
	fullVolume     = 64 << 20
)

func defaultHash(key []byte) uint64 { return xxhash.Sum64(key) }

func realTime() int64 { return time.Now().UnixMilli() }

// clock is Options.Now. It is asked only where something expires.
type clock func() int64

// over reports whether what expires at a time is over.
func (now clock) over(expires int64) bool { return expires != 0 && expires <= now() }

func (o Options) withDefaults() Options {
	if o.Volumes == 0 {
		o.Volumes = volumesPerNode * o.Nodes.Count()
	}
	if o.Most == 0 {
		o.Most = max(fullVolume, o.First)
	}
	if o.First == 0 {
		o.First = min(firstVolume, o.Most)
	}
	if o.Guard == "" {
		o.Guard = "RMA-RW"
	}
	if o.Now == nil {
		o.Now = realTime
	}
	if o.Hash == nil {
		o.Hash = defaultHash
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Port < 0 || o.Port >= orwl.Ports:
		return fmt.Errorf("table: Options.Port is %d, want 0 to %d", o.Port, orwl.Ports-1)
	case o.Volumes < 1 || o.Volumes > mostVolumes:
		return fmt.Errorf("table: Options.Volumes is %d, want 1 to %d", o.Volumes, mostVolumes)
	case o.Most < leastVolume || o.Most > mostVolume || o.Most%unit != 0:
		return fmt.Errorf("table: Options.Most is %d, want %d to %d, a multiple of %d", o.Most, leastVolume, mostVolume, unit)
	case o.First < leastVolume || o.First > o.Most || o.First%unit != 0:
		return fmt.Errorf("table: Options.First is %d, want %d to Options.Most, %d, a multiple of %d", o.First, leastVolume, o.Most, unit)
	}
	return nil
}
