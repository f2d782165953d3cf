package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// The buckets are those that the library's own histogram has, native and classic.
func TestLikeTheLibrarys(t *testing.T) {
	for _, c := range []struct {
		name string
		*scale
		most int64
	}{{"seconds", seconds(), 1 << 40}, {"numbers", numbers(), 1 << 12}} {
		t.Run(c.name, func(t *testing.T) {
			h := c.new()
			other := prometheus.NewHistogram(prometheus.HistogramOpts{
				Name: "x", Help: "x", Buckets: c.classic, NativeHistogramBucketFactor: 1.1, NativeHistogramZeroThreshold: zeroThreshold,
			})
			random := rand.New(rand.NewPCG(1, 2))
			for range 10_000 {
				v := int64(math.Exp2(random.Float64() * math.Log2(float64(c.most))))
				if random.IntN(10) == 0 {
					v = 0
				}
				h.observe(v, 1)
				other.Observe(float64(v) * c.unit)
			}
			for _, bound := range c.classic { // and where they end
				v := int64(math.Round(bound / c.unit))
				h.observe(v, 1)
				other.Observe(float64(v) * c.unit)
			}
			got, want := written(t, h.with(0, other.Desc())).Histogram, written(t, other).Histogram
			if got.GetSampleCount() != want.GetSampleCount() || math.Abs(got.GetSampleSum()/want.GetSampleSum()-1) > 1e-9 {
				t.Errorf("%d, %v in all, want %d, %v", got.GetSampleCount(), got.GetSampleSum(), want.GetSampleCount(), want.GetSampleSum())
			}
			for i, b := range want.Bucket {
				if g := got.Bucket[i]; g.GetUpperBound() != b.GetUpperBound() || g.GetCumulativeCount() != b.GetCumulativeCount() {
					t.Errorf("classic: %v, want %v", g, b)
				}
			}
			if len(got.Bucket) != len(want.Bucket) || got.GetSchema() != want.GetSchema() || got.GetZeroCount() != want.GetZeroCount() {
				t.Errorf("%d buckets, schema %d, %d zeros, want %d, %d, %d", len(got.Bucket), got.GetSchema(), got.GetZeroCount(),
					len(want.Bucket), want.GetSchema(), want.GetZeroCount())
			}
			g, w := counts(got), counts(want)
			for key, n := range w {
				if g[key] != n {
					t.Errorf("native bucket %d: %d, want %d", key, g[key], n)
				}
			}
			if len(g) != len(w) {
				t.Errorf("%d native buckets, want %d", len(g), len(w))
			}
		})
	}
}

// counts are the counts of the native buckets that are not empty, by their keys.
func counts(h *dto.Histogram) map[int]int64 {
	all := make(map[int]int64)
	key, i, n := 0, 0, int64(0)
	for _, s := range h.PositiveSpan {
		key += int(s.GetOffset())
		for range s.GetLength() {
			n += h.PositiveDelta[i]
			if n != 0 {
				all[key] = n
			}
			key, i = key+1, i+1
		}
	}
	return all
}

func written(t *testing.T, m prometheus.Metric) *dto.Metric {
	t.Helper()
	out := new(dto.Metric)
	if err := m.Write(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A value beyond the scale is in the last bucket, a time of nothing is zero, and one value
// may stand for many.
func TestEdges(t *testing.T) {
	h := seconds().new()
	h.observe(0, 2)
	h.observe(-5, 1)
	h.observe(math.MaxInt64/4, 3)
	m := written(t, h.with(10, prometheus.NewDesc("x", "x", nil, nil))).Histogram
	if m.GetSampleCount() != 16 || m.GetZeroCount() != 13 {
		t.Errorf("%d in all and %d zeros, want 16 and 13", m.GetSampleCount(), m.GetZeroCount())
	}
	if first := m.Bucket[0]; first.GetCumulativeCount() != 13 {
		t.Errorf("the first bucket: %v, want 13", first)
	}
	if last := m.Bucket[len(m.Bucket)-1]; last.GetCumulativeCount() != 13 {
		t.Errorf("the last bucket: %v, want 13", last)
	}
}

// A program that is quick has few of its accesses timed, one that is slow all, and
// what is timed stands for all.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		each, places int64
		most         int32
		want         float64 // span
	}{
		{100, 1, 256, 200}, {100, 1, 16, 16}, {100, 4, 1 << 16, 800}, {20_000, 1, 256, 1}, {1e6, 10, 256, 1}, {1e6, 1000, 256, 20},
	} {
		var p pace
		now, timed, gone := int64(1), 0, uint64(0)
		const all = 100_000
		for range all {
			now += c.each
			gone++
			if p.due() {
				timed++
				p.next(now, gone, spendingOnWaits*c.places, c.most)
				gone = 0
			}
		}
		if got := all / float64(timed); got < 0.9*c.want || got > 1.1*c.want {
			t.Errorf("of accesses every %d ns among %d places one of %v is timed, want one of %v", c.each, c.places, got, c.want)
		}
	}
}
