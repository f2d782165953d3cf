package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSum compares sums with the definition, bit for bit: all lengths of a row up to 70, one term to ten, terms that
// are next itself, and numbers of all kinds.
func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() float64 {
		if rng.IntN(50) == 0 {
			special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.MaxFloat64, math.SmallestNonzeroFloat64}
			return special[rng.IntN(len(special))]
		}
		return rng.NormFloat64() * math.Pow(2, float64(rng.IntN(60)-30))
	}
	row := func(n int) []float64 {
		r := make([]float64, n)
		for i := range r {
			r[i] = number()
		}
		return r
	}
	for n := range 71 {
		for count := 1; count <= 10; count++ {
			shift := rng.IntN(4) // a row may begin anywhere
			room := row(n + 8)
			next := room[shift:][:n:n]
			w, terms := Weights(row(count)), make([][]float64, count)
			for k := range terms {
				terms[k] = row(n + rng.IntN(3))
				if rng.IntN(4) == 0 {
					terms[k] = next
				}
			}
			want := slices.Clone(room)
			for i := range n {
				total := float64(w[0] * terms[0][i])
				for k := 1; k < count; k++ {
					product := float64(w[k] * terms[k][i])
					total = float64(total + product)
				}
				want[shift+i] = total
			}
			w.Sum(next, terms...)
			for i := range room { // what stands before and behind next stays
				if math.Float64bits(room[i]) != math.Float64bits(want[i]) && !(math.IsNaN(room[i]) && math.IsNaN(want[i])) {
					t.Fatalf("%d cells, %d terms: cell %d is %g, want %g", n, count, i-shift, room[i], want[i])
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"no terms":          func() { Weights{}.Sum(make([]float64, 4)) },
		"too few terms":     func() { Weights{1, 2}.Sum(make([]float64, 4), make([]float64, 4)) },
		"a term too short":  func() { Weights{1}.Sum(make([]float64, 8), make([]float64, 7)) },
		"too many terms":    func() { Weights{1}.Sum(make([]float64, 1), make([]float64, 1), make([]float64, 1)) },
		"a later too short": func() { Weights{1, 1}.Sum(make([]float64, 2), make([]float64, 2), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it does not panic")
				}
			}()
			f()
		})
	}
}

func TestNothingIsAllocated(t *testing.T) {
	next, a, b, w := make([]float64, 100), make([]float64, 100), make([]float64, 100), Weights{1, 2}
	if n := testing.AllocsPerRun(100, func() { w.Sum(next, a, b) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// BenchmarkSum is the mean of six neighbours, of a row in cache: the package, and a loop in Go.
func BenchmarkSum(b *testing.B) {
	const n, sixth = 192, 1.0 / 6
	all := make([][]float64, 7)
	for i := range all {
		all[i] = make([]float64, n)
	}
	w := Weights{sixth, sixth, sixth, sixth, sixth, sixth}
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			w.Sum(all[0], all[1:]...)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/cell")
	})
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			next, below, above, north, south, west, east := all[0][:n], all[1][:n], all[2][:n], all[3][:n], all[4][:n], all[5][:n], all[6][:n]
			for i := range next {
				next[i] = sixth*below[i] + sixth*above[i] + sixth*north[i] + sixth*south[i] + sixth*west[i] + sixth*east[i]
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/cell")
	})
}
