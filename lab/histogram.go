package lab

import (
	"iter"
	"math/bits"
	"time"
)

// Histogram counts durations in buckets that are 1/16 of a power of two wide, so a percentile
// is exact to 6 %. The zero value is empty.
type Histogram struct {
	N        uint64         `json:"n"`
	Total    time.Duration  `json:"total"`
	Least    time.Duration  `json:"min"`
	Most     time.Duration  `json:"max"`
	Buckets  map[int]uint64 `json:"buckets,omitempty"`
	counting []uint64       // the buckets while a rank measures
}

const bucketBits = 4

// bucket is the number of the bucket of d.
func bucket(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < 1<<bucketBits {
		return int(v)
	}
	shift := bits.Len64(v) - bucketBits - 1
	return shift<<bucketBits + int(v>>shift)
}

// middle is a duration in the middle of a bucket.
func middle(bucket int) time.Duration {
	shift := max(0, bucket>>bucketBits-1)
	low := uint64(bucket-shift<<bucketBits) << shift
	return time.Duration(low + (1<<shift)/2)
}

// add counts a duration.
func (h *Histogram) add(d time.Duration) {
	if h.counting == nil {
		h.counting = make([]uint64, bucket(1<<62)+1)
	}
	if h.N == 0 || d < h.Least {
		h.Least = d
	}
	h.Most = max(h.Most, d)
	h.N++
	h.Total += d
	h.counting[bucket(d)]++
}

// reset empties h and keeps its memory.
func (h *Histogram) reset() {
	clear(h.counting)
	*h = Histogram{counting: h.counting}
}

// finish makes h ready to travel.
func (h *Histogram) finish() {
	h.Buckets = map[int]uint64{}
	for b, n := range h.counting {
		if n > 0 {
			h.Buckets[b] = n
		}
	}
	h.counting = nil
}

// merge adds the durations of a finished histogram.
func (h *Histogram) merge(other Histogram) {
	if other.N == 0 {
		return
	}
	if h.N == 0 || other.Least < h.Least {
		h.Least = other.Least
	}
	h.Most = max(h.Most, other.Most)
	h.N += other.N
	h.Total += other.Total
	if h.Buckets == nil {
		h.Buckets = map[int]uint64{}
	}
	for b, n := range other.Buckets {
		h.Buckets[b] += n
	}
}

// Durations are the middles of the buckets, and how many durations are in each.
func (h *Histogram) Durations() iter.Seq2[time.Duration, uint64] {
	return func(yield func(time.Duration, uint64) bool) {
		for b, n := range h.Buckets {
			if !yield(middle(b), n) {
				return
			}
		}
	}
}

// Mean is the mean duration in nanoseconds, 0 if there is none.
func (h *Histogram) Mean() float64 {
	if h.N == 0 {
		return 0
	}
	return float64(h.Total) / float64(h.N)
}

// Percentile is the duration that the share p of all durations does not exceed.
func (h *Histogram) Percentile(p float64) time.Duration {
	rank, seen := uint64(p*float64(h.N)), uint64(0)
	for b := range bucket(1<<62) + 1 {
		if seen += h.Buckets[b]; seen > rank {
			return min(max(middle(b), h.Least), h.Most)
		}
	}
	return h.Most
}
