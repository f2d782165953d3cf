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
	each(t, testSum[float64])
	each(t, testSum[float32])
}

func testSum[T Cell](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	row := func(n int) []T { return numbers[T](rng, n) }
	for n := range 71 {
		for count := 1; count <= 10; count++ {
			shift := rng.IntN(4) // a row may begin anywhere
			room := row(n + 8)
			next := room[shift:][:n:n]
			w, terms := Weights[T](row(count)), make([][]T, count)
			for k := range terms {
				terms[k] = row(n + rng.IntN(3))
				if rng.IntN(4) == 0 {
					terms[k] = next
				}
			}
			want := slices.Clone(room)
			for i := range n {
				want[shift+i] = w.cell(func(k int) T { return terms[k][i] })
			}
			w.Sum(next, terms...)
			if i := differ(room, want); i >= 0 { // the cells before and behind next stay
				t.Fatalf("%d cells, %d terms: cell %d is %g, want %g", n, count, i-shift, room[i], want[i])
			}
		}
	}
}

// numbers are of all kinds.
func numbers[T Cell](rng *rand.Rand, n int) []T {
	special := []T{0, T(math.Copysign(0, -1)), T(math.Inf(1)), math.MaxFloat32, math.SmallestNonzeroFloat32}
	all := make([]T, n)
	for i := range all {
		if all[i] = T(rng.NormFloat64() * math.Pow(2, float64(rng.IntN(60)-30))); rng.IntN(50) == 0 {
			all[i] = special[rng.IntN(len(special))]
		}
	}
	return all
}

// cell is the definition of a sum.
func (w Weights[T]) cell(term func(k int) T) T {
	total := T(w[0] * term(0))
	for k := 1; k < len(w); k++ {
		product := T(w[k] * term(k))
		total = T(total + product)
	}
	return total
}

// differ is the first cell whose bits differ, or -1.
func differ[T Cell](got, want []T) int {
	for i := range got { // a larger type has the same signs and values
		g, w := float64(got[i]), float64(want[i])
		if math.Float64bits(g) != math.Float64bits(w) && !(math.IsNaN(g) && math.IsNaN(w)) {
			return i
		}
	}
	return -1
}

// TestSumBox compares boxes with the definition: of no cells, of rows that are not full, of several bands, of terms
// whose rows are longer, that are next itself, and that are many.
func TestSumBox(t *testing.T) {
	each(t, testSumBox[float64])
	each(t, testSumBox[float32])
}

func testSumBox[T Cell](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sizes := [][3]int{{2, 0, 5}, {2, 5, 0}, {0, 5, 5}, {1, 1, 1}, {2, 3, bandBytes / 8}, {3, 60, 500}}
	for range 200 {
		sizes = append(sizes, [3]int{rng.IntN(4), rng.IntN(6), rng.IntN(70)})
	}
	for _, size := range sizes {
		box := func(longer int) Box[T] {
			b := Box[T]{Size: size, First: rng.IntN(5), Row: size[2] + longer}
			b.Plane = b.Row*size[1] + rng.IntN(9)
			b.Cells = numbers[T](rng, b.First+b.Plane*size[0]+9)
			return b
		}
		longer, count := rng.IntN(4), 1+rng.IntN(10)
		if rng.IntN(10) == 0 {
			count += 10
		}
		next := box(longer)
		w, terms := Weights[T](numbers[T](rng, count)), make([]Box[T], count)
		for k := range terms {
			if terms[k] = box(longer); rng.IntN(8) == 0 {
				terms[k] = box(longer + 1)
			} else if rng.IntN(4) == 0 {
				terms[k] = next
			}
		}
		want := slices.Clone(next.Cells)
		at := func(b Box[T], z, y, x int) int { return b.First + z*b.Plane + y*b.Row + x }
		for z := range size[0] {
			for y := range size[1] {
				for x := range size[2] {
					want[at(next, z, y, x)] = w.cell(func(k int) T { return terms[k].Cells[at(terms[k], z, y, x)] })
				}
			}
		}
		w.SumBox(next, terms...)
		if i := differ(next.Cells, want); i >= 0 {
			t.Fatalf("%v cells, %d terms: cell %d is %g, want %g", size, count, i, next.Cells[i], want[i])
		}
	}
}

// The term that leads is the first to need new memory: the row after a cell, the next plane, or the only field beside next.
func TestLeading(t *testing.T) {
	from, to := make([]float64, 100), make([]float64, 100)
	at := func(cells []float64, first int) Box[float64] { return Box[float64]{Cells: cells, First: first} }
	next := at(to, 20)
	for _, c := range []struct {
		terms []Box[float64]
		want  int
	}{
		{[]Box[float64]{at(from, 20), at(from, 10), at(from, 30), at(from, 19), at(from, 21)}, 2},
		{[]Box[float64]{at(from, 30), at(from, 20)}, 0},
		{[]Box[float64]{next, at(from, 5)}, 1},
		{[]Box[float64]{at(from, 5), next}, 0},
		{[]Box[float64]{next}, 0},
		{[]Box[float64]{at(to, 0), at(to, 21), next}, 1},
	} {
		if got := leading(next, c.terms); got != c.want {
			t.Errorf("of %v leads term %d, want %d", c.terms, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	box := func(planes, rows, cells, row int) Box[float64] {
		return Box[float64]{Cells: make([]float64, 100), Size: [3]int{planes, rows, cells}, Row: row, Plane: 50}
	}
	for name, f := range map[string]func(){
		"no terms":          func() { Weights[float64]{}.Sum(make([]float64, 4)) },
		"too few terms":     func() { Weights[float64]{1, 2}.Sum(make([]float64, 4), make([]float64, 4)) },
		"a term too short":  func() { Weights[float64]{1}.Sum(make([]float64, 8), make([]float64, 7)) },
		"too many terms":    func() { Weights[float64]{1}.Sum(make([]float64, 1), make([]float64, 1), make([]float64, 1)) },
		"another box":       func() { Weights[float64]{1}.SumBox(box(1, 2, 3, 3), box(1, 3, 3, 3)) },
		"rows that overlap": func() { Weights[float64]{1}.SumBox(box(1, 2, 3, 2), box(1, 2, 3, 2)) },
		"too few boxes":     func() { Weights[float64]{1, 2}.SumBox(box(1, 2, 3, 3), box(1, 2, 3, 3)) },
		"too many boxes":    func() { Weights[float64]{1}.SumBox(box(1, 2, 3, 3), box(1, 2, 3, 3), Box[float64]{}) },
		"cells not there":   func() { Weights[float64]{1}.SumBox(box(1, 20, 5, 5), box(1, 20, 5, 6)) },
		"a later too short": func() { Weights[float64]{1, 1}.Sum(make([]float64, 2), make([]float64, 2), nil) },
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
	next, a, b, w := make([]float64, 100), make([]float64, 100), make([]float64, 100), Weights[float64]{1, 2}
	box := Box[float64]{Cells: next, Row: 10, Plane: 100, Size: [3]int{1, 10, 10}}
	if n := testing.AllocsPerRun(100, func() {
		w.Sum(next, a, b)
		w.SumBox(box, box, box)
	}); n != 0 {
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
	w := Weights[float64]{sixth, sixth, sixth, sixth, sixth, sixth}
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
