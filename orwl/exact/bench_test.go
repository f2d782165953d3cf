package exact

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Benchmark measures sums and dot products: of 4096 values, which stay in cache, and of 2^24, which come from memory.
// Each takes turns with the first row, a plain sum. The fastest turn counts: in nanoseconds for each value, and as a multiple
// of a plain sum's time.
func Benchmark(b *testing.B) {
	for _, size := range []struct {
		name       string
		n, repeats int
	}{{"cache", 4096, 64}, {"memory", 1 << 24, 1}} {
		x, y := normal(1, size.n), normal(2, size.n)
		for _, row := range rows {
			b.Run(row.name+"/"+size.name, func(b *testing.B) {
				turn := func(r func(x, y []float64) float64, best time.Duration) time.Duration {
					start := time.Now()
					for range size.repeats {
						sink += r(x, y)
					}
					return min(best, time.Since(start))
				}
				plain, own := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
				for b.Loop() {
					plain = turn(rows[0].sum, plain)
					own = turn(row.sum, own)
				}
				b.ReportMetric(float64(own.Nanoseconds())/float64(size.n*size.repeats), "ns/value")
				b.ReportMetric(float64(own)/float64(plain), "times-plain")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// sink takes results, so that no loop goes away.
var sink float64

type row struct {
	name string
	sum  func(x, y []float64) float64
}

var rows = append(vectorRows, []row{
	{"plain Go", func(x, _ []float64) (sum float64) {
		for _, v := range x {
			sum += v
		}
		return sum
	}},
	{"plain dot Go", func(x, y []float64) (sum float64) {
		y = y[:len(x)]
		for i, v := range x {
			sum += v * y[i]
		}
		return sum
	}},
	{"Add", func(x, _ []float64) float64 {
		var s Sum
		for _, v := range x {
			s.Add(v)
		}
		return s.Value()
	}},
	{"AddAll", func(x, _ []float64) float64 {
		var s Sum
		s.AddAll(x)
		return s.Value()
	}},
	{"Dot", func(x, y []float64) float64 {
		var s Sum
		s.Dot(x, y)
		return s.Value()
	}},
	{"ExactDot", func(x, y []float64) float64 {
		var s Sum
		s.ExactDot(x, y)
		return s.Value()
	}},
}...)

func normal(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
