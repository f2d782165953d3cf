package exact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
)

// The accumulator is one long integer in units of 2^-2148, which is the square of the smallest float64. So each
// float64, and each product of two, is a whole number of units. It has 134 digits of 32 bits. Each digit has a signed
// word of 64 bits:
//
//	digit   0 ........ 33 ............. 67 ............. 99 ............ 131 132 133
//	unit    2^-2148    2^-1074          1                2^1024          2^2048  sign
//	                   └──────────── a float64 ──────────┘
//	        └────────────────────── a product of two ───────────────────────┘
//
// A float64 has 53 bits. They lie in three neighbouring digits at most. put adds the lowest 32 bits to one word, and the
// other bits to the next word, which has room for them:
//
//	digit i+1                        digit i
//	┌───────────┬────────────────┐   ┌───────────┬────────────────┐
//	│ room      │ 52 bits        │   │ room      │ 32 bits        │
//	└───────────┴────────────────┘   └───────────┴────────────────┘
//
// A word is smaller than pending * 2^52 + 2^32 in magnitude. So carries can wait until pending is 2047. Then carry
// brings each word but the last one back to 32 bits. The last word has the sign. After carry, the words
// depend on the number alone.
//
// Radford M. Neal, Fast exact summation using small and large superaccumulators, 2015: section 3, with digits for
// products added.
const (
	digitBits  = 32
	digitMask  = 1<<digitBits - 1
	digits     = 134
	top        = digits - 1     // the digit with the sign
	lowest     = -2148          // the exponent of the unit
	firstBit   = -1074 - lowest // of the smallest float64
	maxPending = 2047
	maxTop     = 1 << 30 // the last digit is smaller in magnitude: 2^(133*32) * 2^30 * 2^-2148 is 2^2138
)

// Parts of a float64.
const (
	fractionBits = 52
	fractionMask = 1<<fractionBits - 1
	exponentMask = 1<<11 - 1 // also the exponent field of infinities and NaN
	signBit      = 1 << 63
)

// Sum is an exact sum. The zero value is the empty sum. A Sum is plain memory, without pointers: a copy is another
// sum with the same values.
//
// One goroutine may change a sum, or several may read it.
type Sum struct {
	digits   [digits]int64
	pending  uint16
	exponent uint16 // the products of the next block are probably no larger, see [Sum.dotLikeBefore]; 0 if that is not known
	flags    uint32
}

// The flags of a sum say which values that are no numbers it has, and whether its zero is negative.
const (
	some      = 1 << iota // there is a value
	notMinus0             // there is a value that is not -0
	plusInf
	minusInf
	nan
	allFlags = 1<<iota - 1
)

// Add adds x.
func (s *Sum) Add(x float64) {
	b := math.Float64bits(x)
	exponent, m := int(b>>fractionBits)&exponentMask, b&fractionMask
	switch exponent {
	case 0: // zero or subnormal
		if m == 0 {
			s.addZero(b)
			return
		}
		exponent = 1
	case exponentMask:
		s.addSpecial(b)
		return
	default:
		m |= 1 << fractionBits
	}
	s.flags |= some | notMinus0
	s.put(m, b, exponent-1+firstBit)
}

func (s *Sum) addZero(b uint64) {
	if s.flags |= some; b == 0 {
		s.flags |= notMinus0
	}
}

func (s *Sum) addSpecial(b uint64) {
	s.flags |= some | notMinus0
	switch {
	case b&fractionMask != 0:
		s.flags |= nan
	case b&signBit == 0:
		s.flags |= plusInf
	default:
		s.flags |= minusInf
	}
}

// put adds m units shifted left by so many bits. The highest bit of sign says whether it subtracts them. m is smaller
// than 2^53.
func (s *Sum) put(m, sign uint64, shift int) {
	i, by := shift/digitBits, shift%digitBits
	minus := int64(sign) >> 63 // 0 or -1, and x^minus - minus is x or -x
	low, high := int64(m<<by&digitMask), int64(m>>(digitBits-by))
	s.digits[i] += low ^ minus - minus
	s.digits[i+1] += high ^ minus - minus
	if s.pending++; s.pending == maxPending {
		s.carry()
	}
}

// carry makes the words depend on the number alone.
func (s *Sum) carry() {
	if s.pending == 0 {
		return
	}
	carried := int64(0)
	for i := range s.digits[:top] {
		d := s.digits[i] + carried
		s.digits[i], carried = d&digitMask, d>>digitBits
	}
	s.digits[top] += carried
	if !s.fits() {
		panic("exact: the sum has no room for 2^2138, which takes 2^90 products of the largest values")
	}
	s.pending = 0
}

// fits reports whether the last digit of a normalised sum is in its range.
func (s *Sum) fits() bool { return -maxTop < s.digits[top] && s.digits[top] < maxTop }

// normalised is a copy of the sum after all carries.
func (s *Sum) normalised() Sum {
	c := *s
	c.carry()
	return c
}

// Merge adds all values of t.
func (s *Sum) Merge(t *Sum) {
	u := t.normalised()
	for i, d := range u.digits {
		s.digits[i] += d // each word has room for one digit more
	}
	s.flags |= u.flags
	s.pending++
	s.carry()
}

// Value returns the float64 that is nearest to the sum. If two are as near, it returns the even one. An infinity means
// that the sum has one, or that it is at least half a step beyond the largest float64. A sum with both infinities, or with
// a NaN, is math.NaN(). The sum is -0 if it has values, and all are -0.
func (s *Sum) Value() float64 { return s.round(53, -1074) }

// Float32 returns the float32 that is nearest to the sum, in the same way. It rounds once: float32(s.Value()) rounds
// twice, and can differ.
func (s *Sum) Float32() float32 { return float32(s.round(24, -149)) }

// round returns the nearest number of so many bits, whose last bit is at least 2^least.
func (s *Sum) round(precision, least int) float64 {
	switch both := uint32(plusInf | minusInf); {
	case s.flags&nan != 0 || s.flags&both == both:
		return math.NaN()
	case s.flags&plusInf != 0:
		return math.Inf(1)
	case s.flags&minusInf != 0:
		return math.Inf(-1)
	case s.flags == some:
		return math.Copysign(0, -1)
	}
	sum := s.normalised()
	sign := 1.0
	if sum.digits[top] < 0 {
		sign = -1
		for i := range sum.digits {
			sum.digits[i] = -sum.digits[i]
		}
		sum.pending = 1
		sum.carry()
	}
	// The last bit of the result is bit first of the integer. All bits below it are rounded.
	length := sum.length()
	first := max(length-precision, least-lowest)
	m := uint64(0)
	for i := length - 1; i >= first; i-- {
		m = m<<1 | sum.bit(i)
	}
	if sum.bit(first-1) == 1 && (m&1 == 1 || sum.anyBelow(first-1)) {
		m++ // it may be 2^precision now, which is a number of the format, too
	}
	return sign * math.Ldexp(float64(m), first+lowest)
}

// length is how many bits a normalised, non-negative sum has.
func (s *Sum) length() int {
	for i := top; i >= 0; i-- {
		if d := uint64(s.digits[i]); d != 0 {
			return i*digitBits + bits.Len64(d)
		}
	}
	return 0
}

// bit is bit i of a normalised, non-negative sum.
func (s *Sum) bit(i int) uint64 { return uint64(s.digits[i/digitBits]) >> (i % digitBits) & 1 }

// anyBelow reports whether any bit below bit i of a normalised, non-negative sum is 1.
func (s *Sum) anyBelow(i int) bool {
	for _, d := range s.digits[:i/digitBits] {
		if d != 0 {
			return true
		}
	}
	return s.digits[i/digitBits]&(1<<(i%digitBits)-1) != 0
}

// The state of a sum is its number and its flags, as bytes. It depends on the values only, because carry comes first:
// sums of the same values have equal bytes, whatever the order, the split and the merges.
//
//	byte   0           4       7       8                              544
//	       │ checksum  │ "sum" │ flags │ 67 words, two's complement   │
//	         CRC-32C of the rest          two digits each, the lowest first
//
// All numbers are little-endian.
const (
	stateName  = "sum"
	stateFlags = 7
	stateWords = 8

	// StateBytes is the size of a sum's state.
	StateBytes = stateWords + digits/2*8
)

// ErrState means that bytes are no state of a sum, or a damaged one.
var ErrState = errors.New("exact: this is not the state of a sum")

// AppendBinary appends the state of the sum, which takes [StateBytes]. The error is nil.
func (s *Sum) AppendBinary(b []byte) ([]byte, error) {
	n := s.normalised()
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = append(b, stateName...)
	b = append(b, byte(n.flags))
	for i := 0; i < digits; i += 2 {
		b = binary.LittleEndian.AppendUint64(b, uint64(n.digits[i])|uint64(n.digits[i+1])<<digitBits)
	}
	binary.LittleEndian.PutUint32(b[start:], checksum(b[start:]))
	return b, nil
}

// MarshalBinary returns the state of the sum. The error is nil.
func (s *Sum) MarshalBinary() ([]byte, error) { return s.AppendBinary(make([]byte, 0, StateBytes)) }

// UnmarshalBinary makes s the sum with this state. It returns an error that wraps [ErrState], and leaves s as it was, if b has
// another size, another checksum, or a content that no sum has.
func (s *Sum) UnmarshalBinary(b []byte) error {
	if len(b) != StateBytes {
		return fmt.Errorf("%w: it has %d bytes, want %d", ErrState, len(b), StateBytes)
	}
	if got, want := checksum(b), binary.LittleEndian.Uint32(b); got != want {
		return fmt.Errorf("%w: its checksum is %08x, want %08x", ErrState, got, want)
	}
	if string(b[4:stateFlags]) != stateName {
		return fmt.Errorf("%w: its name is %q, want %q", ErrState, b[4:stateFlags], stateName)
	}
	read := Sum{flags: uint32(b[stateFlags])}
	zero := true
	for i := 0; i < digits; i += 2 {
		word := binary.LittleEndian.Uint64(b[stateWords+i*4:])
		read.digits[i], read.digits[i+1] = int64(word&digitMask), int64(word>>digitBits)
		zero = zero && word == 0
	}
	read.digits[top] = int64(int32(read.digits[top]))
	if !read.fits() {
		return fmt.Errorf("%w: it is larger than a sum can be", ErrState)
	}
	if f := read.flags; f&^allFlags != 0 || f != 0 && f&some == 0 || f&notMinus0 == 0 && (f > some || !zero) {
		return fmt.Errorf("%w: no sum has the flags %#x", ErrState, f)
	}
	*s = read
	return nil
}

// checksum is the checksum of a state, without its own bytes.
func checksum(state []byte) uint32 {
	return crc32.Checksum(state[4:], crc32.MakeTable(crc32.Castagnoli)) // the package keeps this table
}
