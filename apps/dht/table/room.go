package table

import (
	"fmt"

	"github.com/orwl/go-orwl/resource"
)

// A volume that has no room for a block has gone through these, until one helps:
//
//	take away what has expired     if something has since the last time
//	move all records together      if they would fill up to half of it, or, when it
//	                               is as large as it may be, up to 7/8
//	double it                      up to Options.Most
//
// So each written byte costs a bounded number of moved bytes. A volume is full only after
// blocks of records fill 7/8 of its heap, and each block leaves at most a fifth unused.

// makeRoom makes room for a block of so many bytes, in the volume that the caller is alone in.
// It returns the volume as it is now.
func makeRoom(in resource.Inside, v vol, needs uint64, o *Options) (vol, error) {
	now := o.Now()
	if v.sweep(now) && v.fits(needs) {
		return v, nil
	}
	block := classSize(classOf(needs))
	for size := len(v); ; size = min(2*size, o.Most) {
		room := roomOf(size)
		share := room / 2
		if size == o.Most {
			share = room - room/8
		}
		if v.word(atLive)+block <= share {
			return v.move(in, size, o.Hash)
		}
		if size == o.Most {
			if block > share {
				return v, fmt.Errorf("%w: it needs %d bytes, a volume has %d", ErrTooLong, block, share)
			}
			return v, fmt.Errorf("%w: %d bytes are needed, %d of %d are in use, and it is as large as it may be", ErrFull, block, v.word(atLive), room)
		}
	}
}

// roomOf is the room that a volume of a size has.
func roomOf(size int) uint64 {
	head := uint64(headerSize+8*bucketsOf(size)+unit-1) &^ (unit - 1)
	return uint64(size)&^(unit-1) - head
}

// fits reports whether a block for so many bytes can be taken.
func (v vol) fits(size uint64) bool {
	class := classOf(size)
	return v.word(uint64(atFree+8*class)) != 0 || v.word(atBump)+classSize(class) <= uint64(len(v))
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

// move puts all records side by side into the volume of another size, or of the same.
func (v vol) move(in resource.Inside, size int, hash func([]byte) uint64) (vol, error) {
	old := v
	b, err := anew(in, size)
	if err != nil {
		return v, err
	}
	v = b
	v.format()
	for at := old.heap(); at < old.word(atBump); at += old.blockSize(at) {
		if old.half(at+atUsed) == 1 {
			key, value := old.key(at), old.value(at)
			to := v.insert(hash(key), key, len(value), old.expires(at))
			copy(v.value(to), value)
		}
	}
	return v, nil
}
