package table

import (
	"fmt"
	"math/bits"
)

// check is what is wrong with a volume of numbers, nil if nothing is: the invariants of
// NumbersVolume hold, and the counts are right.
func (v *NumbersVolume) check() error {
	h, lines := v.header, uint64(len(v.lines))
	if h[numbersMagicAt] != numbersMagic || h[numbersBucketsAt] != v.buckets || h[numbersTakenAt] > lines-v.buckets {
		return fmt.Errorf("%w: %d lines do not begin as a volume of numbers", ErrDamaged, lines)
	}
	seen := make([]bool, lines)
	keys := make(map[uint64]bool)
	for bucket := range v.buckets {
		last, err := v.checkBucket(bucket, seen, keys)
		if err != nil {
			return err
		}
		if at := v.lines[bucket][lineLast]; at != last && (at != 0 || last != bucket) {
			return fmt.Errorf("%w: bucket %d ends at line %d, not at %d", ErrDamaged, bucket, last, at)
		}
	}
	if len(keys) != v.Len() {
		return fmt.Errorf("%w: %d keys, %d counted", ErrDamaged, len(keys), v.Len())
	}
	for n := h[numbersFreeAt]; n != 0; n = v.lines[n][0] {
		if n < v.buckets || n >= lines || seen[n] {
			return fmt.Errorf("%w: line %d is free", ErrDamaged, n)
		}
		seen[n] = true
	}
	for n, seen := range seen {
		if taken := uint64(n) < v.buckets+h[numbersTakenAt]; seen != taken {
			return fmt.Errorf("%w: line %d was taken: %t; is somewhere: %t", ErrDamaged, n, taken, seen)
		}
	}
	return nil
}

// checkBucket checks the lines of a bucket, and returns the last. It marks them as seen,
// and their keys.
func (v *NumbersVolume) checkBucket(bucket uint64, seen []bool, keys map[uint64]bool) (last uint64, err error) {
	for n := bucket; ; {
		if n >= uint64(len(v.lines)) || seen[n] {
			return 0, fmt.Errorf("%w: bucket %d leads to line %d", ErrDamaged, bucket, n)
		}
		seen[n] = true
		l := &v.lines[n]
		used, next := l[0]>>lineUsed, l[0]&lineNext
		pairs := bits.Len64(used)
		if used > lineFull || used != 1<<pairs-1 || pairs < linePair && next != 0 || pairs == 0 && n != bucket {
			return 0, fmt.Errorf("%w: line %d of bucket %d begins with %#x", ErrDamaged, n, bucket, l[0])
		}
		for pair := range pairs {
			key := l[lineKey+2*pair]
			if keys[key] || v.bucket(hashOf(v.hash, key)) != bucket {
				return 0, fmt.Errorf("%w: key %d is there twice, or not of bucket %d", ErrDamaged, key, bucket)
			}
			keys[key] = true
		}
		if next == 0 {
			return n, nil
		}
		n = next
	}
}
