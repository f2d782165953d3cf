package exact

import (
	"errors"
	"math/bits"
)

// Int is an exact sum of integers, of 128 bits. The zero value is the empty sum. It has room for 2^63
// values of any size. Value reports a sum that does not fit into an int64.
type Int struct {
	low  uint64
	high int64
}

// Add adds x.
func (s *Int) Add(x int64) { s.add(Int{uint64(x), x >> 63}) }

// AddAll adds all values of x.
func (s *Int) AddAll(x []int64) {
	for _, v := range x {
		s.Add(v)
	}
}

// Merge adds all values of t. It panics if the sum does not fit into 128 bits, which takes 2^64 values or more.
func (s *Int) Merge(t *Int) { s.add(*t) }

func (s *Int) add(t Int) {
	low, carry := bits.Add64(s.low, t.low, 0)
	high, _ := bits.Add64(uint64(s.high), uint64(t.high), carry)
	if (s.high^int64(high))&(t.high^int64(high)) < 0 {
		panic("exact: the sum has no room for 2^127, which takes 2^64 integers")
	}
	s.low, s.high = low, int64(high)
}

// ErrOverflow means that a sum of integers does not fit into an int64.
var ErrOverflow = errors.New("exact: the sum does not fit into 64 bits")

// Value returns the sum. The error is ErrOverflow if the sum does not fit into an int64. On the way, the sum
// may be larger.
func (s *Int) Value() (int64, error) {
	if v := int64(s.low); v>>63 == s.high {
		return v, nil
	}
	return 0, ErrOverflow
}
