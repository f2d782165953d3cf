package exact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

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
