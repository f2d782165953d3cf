package lab

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Estimate
	}{
		{nil, Estimate{}},
		{[]float64{7}, Estimate{7, 7, 7, 1, 0}},
		{[]float64{3, 1, 2}, Estimate{2, 1, 3, 3, 0.75}},
		{[]float64{4, 1, 2, 3, 5, 9}, Estimate{3.5, 1, 9, 6, 0.96875}},
		{[]float64{8, 7, 6, 5, 4, 3, 2, 1}, Estimate{4.5, 1, 8, 8, 0.9921875}},
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, Estimate{5, 2, 8, 9, 0.9609375}}, // the smallest and the largest are left out
	} {
		if got := EstimateOf(c.values); got != c.want {
			t.Errorf("estimate of %v is %+v, want %+v", c.values, got, c.want)
		}
	}
}

func TestVariation(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{5}, 0}, {[]float64{0, 0}, 0}, {[]float64{3, 3, 3}, 0}, {[]float64{1, 3}, math.Sqrt2 / 2}} {
		if got := variation(c.values); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("variation of %v is %g, want %g", c.values, got, c.want)
		}
	}
}

// TestHistogram compares percentiles with the sorted durations.
func TestHistogram(t *testing.T) {
	var whole, first, second Histogram
	var all []time.Duration
	r := random{state: 1}
	for i := range 10_000 {
		d := time.Duration(r.next() % (1 << (r.next() % 40)))
		all = append(all, d)
		h := &first
		if i%3 == 0 {
			h = &second
		}
		h.add(d)
	}
	for _, h := range []*Histogram{&first, &second} {
		h.finish()
		whole.merge(*h)
	}
	slices.Sort(all)
	if whole.N != uint64(len(all)) || whole.Least != all[0] || whole.Most != all[len(all)-1] {
		t.Errorf("%d durations from %v to %v, want %d from %v to %v", whole.N, whole.Least, whole.Most, len(all), all[0], all[len(all)-1])
	}
	for _, p := range []float64{0, .1, .5, .9, .99, .999, 1} {
		want := all[min(int(p*float64(len(all))), len(all)-1)]
		if got := whole.Percentile(p); math.Abs(float64(got-want)) > 0.04*float64(want)+1 {
			t.Errorf("percentile %g is %v, want %v", p, got, want)
		}
	}
	for d := range time.Duration(1 << 12) {
		if m := middle(bucket(d)); bucket(m) != bucket(d) {
			t.Fatalf("%d is in bucket %d, whose middle %d is in bucket %d", d, bucket(d), m, bucket(m))
		}
	}
	first.reset()
	if first.N != 0 || first.Mean() != 0 {
		t.Errorf("after a reset there are %d durations", first.N)
	}
}

// Two ranks make ten iterations each, in a second of their own, one rank after the other: 10 a second and not 20.
// Ranks that run for a time add up.
func TestRateOfRanks(t *testing.T) {
	samples := []Sample{
		{Rank: 0, Turns: 10, Time: time.Second},
		{Rank: 1, Turns: 10, Time: time.Second, Began: time.Second},
	}
	for turns, want := range map[int]float64{0: 20, 10: 10} {
		c := Case{Benchmark: "ECSB", Lock: "MCS", Machine: "core:2", Writers: 1, Length: Length{Turns: turns}}
		r, err := Summarize(c, samples)
		if err != nil {
			t.Fatal(err)
		}
		if f, _ := r.Figure(FigureThroughput); f.Median != want {
			t.Errorf("%d turns: %g a second, want %g", turns, f.Median, want)
		}
	}
}
