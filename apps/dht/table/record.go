package table

import (
	"bytes"
	"math"
	"strconv"
)

// find is where the record of a key is, 0 if there is none.
func (v vol) find(hash uint64, key []byte) uint64 {
	t := tag(hash)
	for l := v.word(v.bucket(hash)); l != 0; {
		at := place(l)
		if l&^placeMask == t && bytes.Equal(v.key(at), key) {
			return at
		}
		l = v.word(at + atNext)
	}
	return 0
}

// seek is find for writers: it also returns the place of the link that leads to the record, and
// removes expired records that it meets.
func (v vol) seek(hash uint64, key []byte, now clock) (at, from uint64) {
	t := tag(hash)
	from = v.bucket(hash)
	for l := v.word(from); l != 0; l = v.word(from) {
		at := place(l)
		if now.over(v.expires(at)) {
			v.remove(at, from)
			continue
		}
		if l&^placeMask == t && bytes.Equal(v.key(at), key) {
			return at, from
		}
		from = at + atNext
	}
	return 0, 0
}

// remove takes a record away, to which a link leads.
func (v vol) remove(at, from uint64) {
	v.setWord(from, v.word(at+atNext))
	v.setWord(atRecords, v.word(atRecords)-1)
	v.free(at)
}

// insert adds a record, whose key is not there, for a value of so many bytes: 0 if
// there is no room, or there are too few buckets.
func (v vol) insert(hash uint64, key []byte, value int, expires int64) uint64 {
	if v.crowded() {
		return 0
	}
	at := v.take(recordSize(len(key), value))
	if at == 0 {
		return 0
	}
	from := v.bucket(hash)
	v.setWord(at+atNext, v.word(from))
	v.setWord(from, link(hash, at))
	v.setHalf(at+atKeyLen, uint64(len(key)))
	v.setHalf(at+atValLen, uint64(value))
	v.setExpires(at, expires)
	copy(v[at+recordAt:], key)
	v.setWord(atRecords, v.word(atRecords)+1)
	return at
}

func (v vol) setExpires(at uint64, expires int64) {
	v.setWord(at+atExpires, uint64(expires))
	if s := v.word(atSoonest); expires != 0 && (s == 0 || uint64(expires) < s) {
		v.setWord(atSoonest, uint64(expires))
	}
}

// lengthen gives a record's value another length, in a new block if it has to, and
// returns where the record is now: 0 if there is no room. As much of the value is kept
// as keep says.
func (v vol) lengthen(at, from, hash uint64, length, keep int) uint64 {
	key := v.key(at)
	size := recordSize(len(key), length)
	if classSize(classOf(size)) == v.blockSize(at) {
		v.setHalf(at+atValLen, uint64(length))
		return at
	}
	to := v.take(size)
	if to == 0 {
		return 0
	}
	copy(v[to:to+atUnits], v[at:at+atUnits])
	copy(v[to+recordAt:], v[at+recordAt:at+recordSize(len(key), keep)])
	v.setHalf(to+atValLen, uint64(length))
	v.setWord(from, link(hash, to))
	v.free(at)
	return to
}

// store gives a key, whose record is at a place or nowhere, a value, and reports
// whether there was room.
func (v vol) store(at, from, hash uint64, key, value []byte, expires int64) bool {
	if at == 0 {
		at = v.insert(hash, key, len(value), expires)
	} else if at = v.lengthen(at, from, hash, len(value), 0); at != 0 {
		v.setExpires(at, expires)
	}
	if at == 0 {
		return false
	}
	copy(v.value(at), value)
	return true
}

// The values of results.
const (
	// LongValue is the length in bytes above which a value gets a buffer of Options.Memory.
	LongValue = 4 << 10
	// mostValues is how many bytes of values one Do answers with, beside the last one.
	mostValues = 256 << 10
)

// tell appends a value to the result, without the bytes that peek uses up. It reports whether there is room for all of it, and else
// says so in the result.
func (r *Result) tell(value []byte, o *Options, peek func([]byte) int) bool {
	if !r.fits(value, o) {
		b := o.Memory.Take(len(r.Value) + len(value))
		if b == nil {
			r.later()
			return false
		}
		r.Value = b[:copy(b, r.Value)]
	}
	if peek != nil {
		value = value[peek(value):]
	}
	r.Value = append(r.Value, value...)
	return true
}

// later puts the op off.
func (r *Result) later() { *r = Result{Value: r.Value, Err: ErrLater} }

// mustTell appends a value that would be lost otherwise.
func (r *Result) mustTell(value []byte, o *Options) {
	if !r.fits(value, o) {
		b := o.Memory.TakeBeyond(len(r.Value) + len(value))
		r.Value = b[:copy(b, r.Value)]
	}
	r.Value = append(r.Value, value...)
}

// fits reports whether a value needs no buffer of Options.Memory.
func (r *Result) fits(value []byte, o *Options) bool {
	return o.Memory == nil || len(value) <= LongValue || len(value) <= cap(r.Value)-len(r.Value)
}

// look does an op that changes nothing.
func (v vol) look(o *Op, r *Result, hash uint64, by *Options) {
	at := v.find(hash, o.Key)
	if at == 0 || clock(by.Now).over(v.expires(at)) {
		return
	}
	r.Found, r.Expires = true, v.expires(at)
	switch o.Kind {
	case Get:
		r.tell(v.value(at), by, o.Peek)
	case Length:
		r.Number = int64(v.half(at + atValLen))
	}
}

// change does an op that may change something, and returns how large a block it had
// needed where there is none: then nothing is changed.
func (v vol) change(o *Op, r *Result, hash uint64, by *Options) (needs uint64) {
	now := clock(by.Now)
	at, from := v.seek(hash, o.Key, now)
	if at != 0 {
		r.Found, r.Expires = true, v.expires(at)
	}
	switch o.Kind {
	case Set:
		return v.set(o, r, at, from, hash, by)
	case Delete:
		if at != 0 {
			v.remove(at, from)
		}
	case Add:
		return v.add(o, r, at, from, hash)
	case Append:
		return v.extend(o, r, at, from, hash)
	case Expire:
		switch r.Done = at != 0 && o.allows(r.Expires); {
		case !r.Done:
		case now.over(o.Expires):
			v.remove(at, from)
		default:
			v.setExpires(at, o.Expires)
		}
	}
	return 0
}

func (v vol) set(o *Op, r *Result, at, from, hash uint64, by *Options) (needs uint64) {
	now, expires, begin := clock(by.Now), o.Expires, len(r.Value)
	if at != 0 && o.Keep {
		expires = r.Expires
	}
	if at != 0 && o.Old && !r.tell(v.value(at), by, nil) {
		return 0
	}
	switch {
	case o.If == Absent && at != 0, o.If == Present && at == 0,
		o.If == Equal && (at == 0 || !bytes.Equal(v.value(at), o.Compare)):
		return 0
	case now.over(expires):
		if at != 0 {
			v.remove(at, from)
		}
	case !v.store(at, from, hash, o.Key, o.Value, expires):
		r.Value = r.Value[:begin]
		return recordSize(len(o.Key), len(o.Value))
	}
	r.Done = true
	return 0
}

func (v vol) add(o *Op, r *Result, at, from, hash uint64) (needs uint64) {
	old := int64(0)
	if at != 0 {
		var ok bool
		if old, ok = integer(v.value(at)); !ok {
			r.Err = ErrNotInteger
			return 0
		}
	}
	if o.Number > 0 && old > math.MaxInt64-o.Number || o.Number < 0 && old < math.MinInt64-o.Number {
		r.Err = ErrOverflow
		return 0
	}
	var digits [20]byte
	value := strconv.AppendInt(digits[:0], old+o.Number, 10)
	if !v.store(at, from, hash, o.Key, value, r.Expires) {
		return recordSize(len(o.Key), len(value))
	}
	r.Number, r.Done = old+o.Number, true
	return 0
}

// integer is the integer that a value is, written as one writes it and not otherwise.
func integer(value []byte) (int64, bool) {
	var digits [20]byte
	if len(value) > len(digits) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	return n, err == nil && bytes.Equal(strconv.AppendInt(digits[:0], n, 10), value)
}

func (v vol) extend(o *Op, r *Result, at, from, hash uint64) (needs uint64) {
	if at == 0 {
		if !v.store(0, 0, hash, o.Key, o.Value, 0) {
			return recordSize(len(o.Key), len(o.Value))
		}
		r.Number, r.Done = int64(len(o.Value)), true
		return 0
	}
	before := len(v.value(at))
	length := before + len(o.Value)
	if recordSize(len(o.Key), length) > mostRecord {
		r.Err = ErrTooLong
		return 0
	}
	if at = v.lengthen(at, from, hash, length, before); at == 0 {
		return recordSize(len(o.Key), length)
	}
	copy(v.value(at)[before:], o.Value)
	r.Number, r.Done = int64(length), true
	return 0
}

// mostRecord is how large a record can be whatever the volume is.
const mostRecord = 512 << 20
