package metrics

import (
	"math"
	"sort"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
)

// histogram counts values in buckets, native and classic at the same time. Any goroutine may
// use it at any time. It is our own for two reasons: the values that need no measuring are
// added only by a scrape, and a sample stands for many values.
//
//	native    ──┬──────┬──────┬──────┬──   2^(k/8): 9 % wide
//	classic   ──────┬────────────────┬──   the round ones
//	cells     ──┬───┬──┬──────┬──────┬──
type histogram struct {
	*scale
	cells []atomic.Uint64
	zero  atomic.Uint64
	sum   atomic.Uint64 // in units
}

// scale is where the cells of a histogram end.
type scale struct {
	unit    float64 // the unit of observations, in the metric's unit
	uppers  []float64
	keys    []int // the native bucket of each cell
	classic []float64
}

// schema is Prometheus' number for eight buckets to a factor of two: each is 9 %
// wider than the one before.
const (
	schema        = 3
	perOctave     = 1 << schema
	zeroThreshold = 1.0 / (1 << 40)
)

// newScale is a scale of values from 2^from to 2^to.
func newScale(unit float64, from, to int, classic ...float64) *scale {
	s := &scale{unit: unit, classic: classic}
	next := 0
	for k := from * perOctave; k <= to*perOctave; k++ {
		upper := math.Ldexp(math.Exp2(float64(k&(perOctave-1))/perOctave), k>>schema)
		for ; next < len(classic) && classic[next] <= upper; next++ {
			if classic[next] < upper {
				s.uppers, s.keys = append(s.uppers, classic[next]), append(s.keys, k)
			}
		}
		s.uppers, s.keys = append(s.uppers, upper), append(s.keys, k)
	}
	return s
}

// seconds is the scale of times, which are observed in nanoseconds. numbers is the scale of
// numbers of things.
func seconds() *scale {
	var classic []float64
	for _, decade := range []float64{1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1} {
		classic = append(classic, 1*decade, 2.5*decade, 5*decade)
	}
	return newScale(1e-9, -30, 17, append(classic, 10)...)
}

func numbers() *scale {
	return newScale(1, 0, 20, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096)
}

func (s *scale) new() *histogram {
	return &histogram{scale: s, cells: make([]atomic.Uint64, len(s.uppers))}
}

// observe counts a value that stands for so many of its like.
func (h *histogram) observe(units int64, weight uint64) {
	if units <= 0 {
		h.zero.Add(weight)
		return
	}
	i := sort.SearchFloat64s(h.uppers, float64(units)*h.unit)
	h.cells[min(i, len(h.cells)-1)].Add(weight)
	h.sum.Add(uint64(units) * weight)
}

// with is the histogram as it is now, with so many zeros more, as a metric.
func (h *histogram) with(zeros uint64, desc *prometheus.Desc, labels ...string) prometheus.Metric {
	return &picture{h, zeros, desc, prometheus.MakeLabelPairs(desc, labels)}
}

// picture is a histogram as a metric.
type picture struct {
	*histogram
	zeros  uint64
	desc   *prometheus.Desc
	labels []*dto.LabelPair
}

// Desc implements prometheus.Metric.
func (p *picture) Desc() *prometheus.Desc { return p.desc }

// Write implements prometheus.Metric.
func (p *picture) Write(out *dto.Metric) error {
	zeros := p.zeros + p.zero.Load()
	h := &dto.Histogram{
		Schema: proto.Int32(schema), ZeroThreshold: proto.Float64(zeroThreshold), ZeroCount: proto.Uint64(zeros),
		SampleSum: proto.Float64(float64(p.sum.Load()) * p.unit),
	}
	n, classic := zeros, 0
	native := spans{to: h}
	for i := range p.cells {
		for ; classic < len(p.classic) && (i > 0 && p.classic[classic] <= p.uppers[i-1] || p.classic[classic] < p.uppers[0]); classic++ {
			h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: proto.Float64(p.classic[classic]), CumulativeCount: proto.Uint64(n)})
		}
		c := p.cells[i].Load()
		n += c
		native.add(p.keys[i], c)
	}
	native.done()
	for ; classic < len(p.classic); classic++ {
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: proto.Float64(p.classic[classic]), CumulativeCount: proto.Uint64(n)})
	}
	h.SampleCount = proto.Uint64(n)
	out.Histogram, out.Label = h, p.labels
	return nil
}

// spans writes native buckets: runs of those that are not empty, and the difference
// of each to the one before.
type spans struct {
	to     *dto.Histogram
	key    int
	count  uint64
	last   int64
	end    int // the key after the last that is written
	begun  bool
	marked bool
}

// add counts for the bucket of a key, which never is less than the one before.
func (s *spans) add(key int, count uint64) {
	if s.begun && key != s.key {
		s.flush()
	}
	s.begun, s.key = true, key
	s.count += count
}

func (s *spans) flush() {
	if s.count == 0 {
		return
	}
	if s.marked && s.key == s.end {
		last := s.to.PositiveSpan[len(s.to.PositiveSpan)-1]
		last.Length = proto.Uint32(last.GetLength() + 1)
	} else {
		s.to.PositiveSpan = append(s.to.PositiveSpan, &dto.BucketSpan{Offset: proto.Int32(int32(s.key - s.end)), Length: proto.Uint32(1)})
	}
	s.to.PositiveDelta = append(s.to.PositiveDelta, int64(s.count)-s.last)
	s.last, s.count, s.end, s.marked = int64(s.count), 0, s.key+1, true
}

// done ends the last bucket. A histogram without any has an empty span, by which it
// is known as a native one.
func (s *spans) done() {
	s.flush()
	if len(s.to.PositiveSpan) == 0 {
		s.to.PositiveSpan = []*dto.BucketSpan{{Offset: proto.Int32(0), Length: proto.Uint32(0)}}
	}
}
