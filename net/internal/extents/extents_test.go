package extents

import (
	"math/rand/v2"
	"testing"
)

// TestExtents takes and gives at random, beside a table of granules.
func TestExtents(t *testing.T) {
	const granules = 200
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		free := Extents{{0, granules}}
		var taken [granules]bool
		var held []Extent
		for step := range 400 {
			if len(held) > 0 && random.IntN(2) == 0 {
				i := random.IntN(len(held))
				e := held[i]
				held = append(held[:i], held[i+1:]...)
				free.Give(e.At, e.N)
				for g := e.At; g < e.At+e.N; g++ {
					taken[g] = false
				}
			} else {
				n := 1 + random.IntN(30)
				want := firstFit(taken[:], n)
				at, ok := free.Take(n)
				if ok != (want >= 0) || ok && at != want {
					t.Fatalf("seed %d, step %d: take(%d) = %d, %v; the first fit is %d", seed, step, n, at, ok, want)
				}
				if ok {
					held = append(held, Extent{at, n})
					for g := at; g < at+n; g++ {
						taken[g] = true
					}
				}
			}
			for i := 1; i < len(free); i++ {
				if free[i-1].At+free[i-1].N >= free[i].At {
					t.Fatalf("seed %d, step %d: not sorted and joined: %v", seed, step, free)
				}
			}
		}
		for _, e := range held {
			free.Give(e.At, e.N)
		}
		if len(free) != 1 || free[0] != (Extent{0, granules}) || free.Largest() != granules {
			t.Fatalf("seed %d: all is given back, but %v is free", seed, free)
		}
	}
}

// firstFit is where the first n granules in a row are free, -1 if nowhere.
func firstFit(taken []bool, n int) int {
	run := 0
	for g, t := range taken {
		if run++; t {
			run = 0
		}
		if run == n {
			return g - n + 1
		}
	}
	return -1
}
