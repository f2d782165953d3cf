package table

import (
	"errors"
	"fmt"
	"sort"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/resource"
)

// A volume that has no room for a block goes through these, until one helps:
//
//	take away what has expired     if something has since the last time
//	pack all records together      if they would fill up to half of it
//	grow                           up to Options.Most, and as far as Options.Memory has room
//	pack, and grow, to the last    if records would fill up to 7/8 of it then
//
// So each written byte costs a bounded number of moved bytes. A volume is full only after
// blocks of records fill 7/8 of its heap, and each block leaves at most a fifth unused.
//
// All of this happens where the records are: no second volume is needed for it.

// makeRoom makes room for a block of so many bytes, in the volume that the caller is alone in.
// It returns the volume as it is now.
func makeRoom(in resource.Inside, v vol, needs uint64, o *Options) (vol, error) {
	now := o.Now()
	if v.sweep(now) && v.fits(needs) {
		return v, nil
	}
	block := classSize(classOf(needs))
	live := v.word(atLive) + block
	if live <= v.room(len(v))/2 {
		v.remake(len(v))
		v.relink(o.Hash)
		return v, nil
	}
	if used := v.word(atBump) - v.heap() + block; used <= roomOf(o.Most) {
		holds := func(room uint64) bool { return used <= room }
		least := v.sizeFor(len(v), o.Most, holds)
		liked := v.sizeFor(min(max(least, len(v)+o.step(len(v))), o.Most), o.Most, holds)
		for _, size := range []int{liked, least} {
			b, err := in.Resize(size)
			if err == nil {
				return v.regrown(b, o.Hash), nil
			}
			if !errors.Is(err, budget.ErrNoRoom) {
				return v, err
			}
		}
	}
	return v.last(in, block, live, o)
}

// last makes the last room that there can be.
func (v vol) last(in resource.Inside, block, live uint64, o *Options) (vol, error) {
	if share := most(roomOf(o.Most)); block > share {
		return v, fmt.Errorf("%w: it needs %d bytes, a volume has %d", ErrTooLong, block, share)
	}
	if live > most(roomOf(o.Most)) {
		return v, fmt.Errorf("%w: %d bytes are needed, %d of %d are in use, and it is as large as it may be",
			ErrFull, block, live-block, roomOf(o.Most))
	}
	size := v.sizeFor(len(v), o.Most, func(room uint64) bool { return live <= most(room) })
	b, err := in.Resize(size)
	if errors.Is(err, budget.ErrNoRoom) {
		return v, errMemory
	} else if err != nil {
		return v, err
	}
	v = b
	v.remake(size)
	v.relink(o.Hash)
	return v, nil
}

// most is how much of a room records may fill.
func most(room uint64) uint64 { return room - room/8 }

// errMemory is ErrFull where it is not the volume that is full.
var errMemory = fullError("table: memory is full: delete something, or give it more by -memory")

type fullError string

func (e fullError) Error() string { return string(e) }

// Unwrap is ErrFull.
func (e fullError) Unwrap() error { return ErrFull }

// step is by how much a volume grows at a time. In Go's heap it moves, so that it doubles. Elsewhere
// it grows where it is.
func (o *Options) step(size int) int {
	if o.Memory == nil {
		return size
	}
	return size / 8 &^ (unit - 1)
}

// sizeFor is the least size from one on, in steps that do not matter, whose room will do. The room of
// the largest size does.
func (v vol) sizeFor(from, most int, will func(room uint64) bool) int {
	const grain = 4 << 10
	n := sort.Search((most-from+grain-1)/grain, func(i int) bool { return will(v.room(from + i*grain)) })
	return min(from+n*grain, most)
}

// shrunk gives memory back when records fill less than a quarter of the volume, and returns the
// volume as it is then. They fill about a half afterwards.
func (v vol) shrunk(in resource.Inside, o *Options) vol {
	live := v.word(atLive)
	if len(v) <= o.First || live >= uint64(len(v))/4 {
		return v
	}
	size := max(o.First, len(v)/4&^(unit-1))
	size = v.sizeFor(size, len(v), func(room uint64) bool { return live <= room/2 })
	if size >= len(v) {
		return v
	}
	v.remake(size)
	b, err := in.Resize(size)
	if err != nil { // a resource of Go's heap cannot, for lack of memory
		b = v
		v.remake(len(v))
	}
	v = b
	v.relink(o.Hash)
	return v
}

// regrown makes the bytes that a volume has grown to a volume.
func (v vol) regrown(b vol, hash func([]byte) uint64) vol {
	if b.bucketsFor(len(b)) == b.buckets() {
		b.setWord(atSize, uint64(len(b)))
		return b
	}
	b.remake(len(b))
	b.relink(hash)
	return b
}

// remake packs a volume, and gives it the buckets of one of so many bytes. Links are wrong afterwards.
func (v vol) remake(size int) {
	v.pack()
	from, buckets := v.heap(), v.bucketsFor(size)
	v.setWord(atSize, uint64(size))
	v.setWord(atBuckets, buckets)
	if v.heap() != from {
		v.shift(from, v.heap())
	}
}

// shift moves the whole heap from one place to another, where it is to begin. Links are wrong afterwards.
func (v vol) shift(from, to uint64) {
	bump := v.word(atBump)
	copy(v[to:], v[from:bump])
	v.setWord(atBump, to+bump-from)
}

// roomOf is the room that a volume of a size has at least.
func roomOf(size int) uint64 {
	return uint64(size)&^(unit-1) - heapBehind(uint64(bucketsOf(size)))
}

// room is the room that this volume has if it has so many bytes.
func (v vol) room(size int) uint64 {
	return uint64(size)&^(unit-1) - heapBehind(v.bucketsFor(size))
}

// fits reports whether a block for so many bytes can be taken, and has a bucket.
func (v vol) fits(size uint64) bool {
	class := classOf(size)
	return !v.crowded() && (v.word(uint64(atFree+8*class)) != 0 || v.word(atBump)+classSize(class) <= uint64(len(v)))
}

// sweep takes away all records that have expired, unless none can have, and reports
// whether it did so.
func (v vol) sweep(now int64) bool {
	if s := v.word(atSoonest); s == 0 || int64(s) > now {
		return false
	}
	before := v.word(atRecords)
	v.setWord(atSoonest, 0)
	for i := range v.buckets() {
		from := headerSize + 8*i
		for l := v.word(from); l != 0; l = v.word(from) {
			at := place(l)
			if v.expires(at) != 0 && v.expires(at) <= now {
				v.remove(at, from)
				continue
			}
			v.setExpires(at, v.expires(at))
			from = at + atNext
		}
	}
	return v.word(atRecords) < before
}

// pack puts all records side by side. Links are wrong afterwards.
func (v vol) pack() {
	clear(v[atFree : atFree+8*classes])
	to, bump := v.heap(), v.word(atBump)
	for at := to; at < bump; {
		size := v.blockSize(at)
		if v.half(at+atUsed) == 1 {
			if to != at {
				copy(v[to:], v[at:at+recordSize(int(v.half(at+atKeyLen)), int(v.half(at+atValLen)))])
			}
			to += size
		}
		at += size
	}
	v.setWord(atBump, to)
}

// relink makes the links of all records, which lie side by side.
func (v vol) relink(hash func([]byte) uint64) {
	clear(v[headerSize : headerSize+8*v.buckets()])
	for at := v.heap(); at < v.word(atBump); at += v.blockSize(at) {
		h := hash(v.key(at))
		from := v.bucket(h)
		v.setWord(at+atNext, v.word(from))
		v.setWord(from, link(h, at))
	}
}
