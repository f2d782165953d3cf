package handle

import "testing"

var sunk float64

func floats(n int) (plain []float64, view View[float64]) {
	b := aligned(8 * n)
	plain, err := castWrite[float64](b)
	if err != nil {
		panic(err)
	}
	for i := range plain {
		plain[i] = float64(i)
	}
	view, err = castRead[float64](b)
	if err != nil {
		panic(err)
	}
	return plain, view
}

// The sum of 1000 numbers through a slice, At and All: compare the three.
func BenchmarkSum(b *testing.B) {
	plain, view := floats(1000)
	b.Run("slice", func(b *testing.B) {
		for b.Loop() {
			sunk = sumSlice(plain)
		}
	})
	b.Run("At", func(b *testing.B) {
		for b.Loop() {
			sunk = sumAt(view)
		}
	})
	b.Run("All", func(b *testing.B) {
		for b.Loop() {
			sunk = sumAll(view)
		}
	})
}

// Each sum is a function of its own, so that the loops are compiled alike.
//
//go:noinline
func sumSlice(s []float64) (sum float64) {
	for _, x := range s {
		sum += x
	}
	return sum
}

//go:noinline
func sumAt(v View[float64]) (sum float64) {
	for i := range v.Len() {
		sum += v.At(i)
	}
	return sum
}

//go:noinline
func sumAll(v View[float64]) (sum float64) {
	for _, x := range v.All() {
		sum += x
	}
	return sum
}
