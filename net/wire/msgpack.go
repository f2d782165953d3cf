package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The first bytes of msgpack's forms, as far as headers use them: arrays, unsigned integers in
// their shortest form, binary strings and text. They are appended and read by hand, which is
// many times faster than any library that has to look at types. A test proves with the library
// that it is msgpack.
const (
	lastFixUint = 0x7f // up to it, the byte is the number
	fixArray    = 0x90 // to 0x9f, with the length
	fixText     = 0xa0 // to 0xbf, with the length
	bin8        = 0xc4
	bin16       = 0xc5
	bin32       = 0xc6
	uint8Form   = 0xcc
	uint16Form  = 0xcd
	uint32Form  = 0xce
	uint64Form  = 0xcf
	text8       = 0xd9
	text16      = 0xda
	text32      = 0xdb
	array16     = 0xdc
	array32     = 0xdd
	noForm      = 0xc1 // msgpack will never use it
)

// ErrMalformed is a header that is not what its kind should be.
var ErrMalformed = errors.New("wire: malformed header")

// AppendUint appends an integer.
func AppendUint(b []byte, v uint64) []byte {
	switch {
	case v <= lastFixUint:
		return append(b, byte(v))
	case v < 1<<8:
		return append(b, uint8Form, byte(v))
	case v < 1<<16:
		return append(b, uint16Form, byte(v>>8), byte(v))
	case v < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, uint32Form), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, uint64Form), v)
}

// AppendBool appends a bool as the integer 0 or 1.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendArray begins an array of n elements, which follow.
func AppendArray(b []byte, n int) []byte {
	switch {
	case n < 1<<4:
		return append(b, fixArray|byte(n))
	case n < 1<<16:
		return append(b, array16, byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(append(b, array32), uint32(n))
}

// AppendBytes appends a binary string.
func AppendBytes(b, p []byte) []byte {
	switch n := len(p); {
	case n < 1<<8:
		b = append(b, bin8, byte(n))
	case n < 1<<16:
		b = append(b, bin16, byte(n>>8), byte(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, bin32), uint32(n))
	}
	return append(b, p...)
}

// AppendString appends text.
func AppendString(b []byte, s string) []byte {
	switch n := len(s); {
	case n < 1<<5:
		b = append(b, fixText|byte(n))
	case n < 1<<8:
		b = append(b, text8, byte(n))
	case n < 1<<16:
		b = append(b, text16, byte(n>>8), byte(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, text32), uint32(n))
	}
	return append(b, s...)
}

// Reader reads what was appended, in the same order. Its first failure sticks:
// from then on everything it reads is zero, so that one look at Err or Done
// afterwards is enough. Nothing that it returns is longer than what it was given,
// whatever lengths are claimed.
type Reader struct {
	b      []byte
	fields int // of the body, for want
	err    error
}

// NewReader reads from b, which must not change meanwhile.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Err is the first failure.
func (r *Reader) Err() error { return r.err }

// Done is the first failure, or that something is left.
func (r *Reader) Done() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes too many", len(r.b))
	}
	return r.err
}

func (r *Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
	r.b = nil
}

// uintAt is the integer that stands at b[i] and where the next value does: behind
// the end of b if there is no integer, and then again whatever is asked. It knows no
// Reader, so that a caller in a hurry can keep everything in registers.
func uintAt(b []byte, i int) (uint64, int) {
	if i >= len(b) || b[i] > lastFixUint { // few numbers are so large
		return longUintAt(b, i)
	}
	return uint64(b[i]), i + 1
}

// longUintAt is uintAt for an integer of more than a byte.
func longUintAt(b []byte, i int) (v uint64, next int) {
	if i >= len(b) || b[i] < uint8Form || b[i] > uint64Form {
		return 0, len(b) + 1
	}
	form := b[i] - uint8Form
	next = i + 1 + 1<<form
	switch {
	case next > len(b):
		return 0, len(b) + 1
	case i+9 <= len(b):
		return binary.BigEndian.Uint64(b[i+1:]) >> (64 - 8<<form), next
	}
	for _, c := range b[i+1 : next] {
		v = v<<8 | uint64(c)
	}
	return v, next
}

// Uint reads an integer.
func (r *Reader) Uint() uint64 {
	v, next := uintAt(r.b, 0)
	if next > len(r.b) {
		r.fail("want an unsigned integer")
		return 0
	}
	r.b = r.b[next:]
	return v
}

// UintTo reads an integer of at most most.
func (r *Reader) UintTo(most uint64) uint64 {
	v := r.Uint()
	if v > most {
		r.fail("%d where at most %d is allowed", v, most)
		return 0
	}
	return v
}

// Bool reads what AppendBool has appended.
func (r *Reader) Bool() bool { return r.UintTo(1) == 1 }

// Array reads the beginning of an array and returns how many elements follow. Each element is
// at least a byte.
func (r *Reader) Array() int {
	var n uint64
	switch f := r.form(); {
	case f&0xf0 == fixArray:
		n = uint64(f & 0x0f)
	case f == array16:
		n = r.big(2)
	case f == array32:
		n = r.big(4)
	default:
		r.fail("want an array")
	}
	if n > uint64(len(r.b)) {
		r.fail("an array of %d in %d bytes", n, len(r.b))
		return 0
	}
	return int(n)
}

// Bytes reads a binary string, which is part of what the Reader was given.
func (r *Reader) Bytes() []byte {
	var n uint64
	switch r.form() {
	case bin8:
		n = r.big(1)
	case bin16:
		n = r.big(2)
	case bin32:
		n = r.big(4)
	default:
		r.fail("want bytes")
	}
	return r.take(n)
}

// String reads text.
func (r *Reader) String() string { return r.textTo(MaxHeader) }

// textTo reads text of at most most bytes, and copies no longer one.
func (r *Reader) textTo(most uint64) string {
	var n uint64
	switch f := r.form(); {
	case f&0xe0 == fixText:
		n = uint64(f & 0x1f)
	case f == text8:
		n = r.big(1)
	case f == text16:
		n = r.big(2)
	case f == text32:
		n = r.big(4)
	default:
		r.fail("want text")
	}
	if n > most {
		r.fail("text of %d bytes, at most %d are allowed", n, most)
	}
	return string(r.take(n))
}

// form takes the first byte.
func (r *Reader) form() byte {
	if len(r.b) == 0 {
		r.fail("it ends too early")
		return noForm
	}
	f := r.b[0]
	r.b = r.b[1:]
	return f
}

// big takes an integer of n bytes.
func (r *Reader) big(n int) (v uint64) {
	for _, c := range r.take(uint64(n)) {
		v = v<<8 | uint64(c)
	}
	return v
}

func (r *Reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("%d bytes where %d are left", n, len(r.b))
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}
