package exact_test

import (
	"fmt"

	"github.com/orwl/go-orwl/orwl/exact"
)

func ExampleSum() {
	values := []float64{1e16, 1, -1e16, 1e-3}
	plain := 0.0
	for _, x := range values {
		plain += x
	}
	var s exact.Sum
	s.AddAll(values)
	fmt.Println(plain, s.Value())
	// Output: 0.001 1.001
}

// Each task adds its own values. The sums are merged in any order.
func ExampleSum_Merge() {
	parts := make([]exact.Sum, 3)
	for i := range 3000 {
		parts[i%3].Add(0.1)
	}
	var whole exact.Sum
	for i := range parts {
		whole.Merge(&parts[2-i])
	}
	fmt.Println(whole.Value())
	// Output: 300
}

// The scalar product of two vectors that are almost at right angles.
func ExampleSum_ExactDot() {
	x, y := []float64{0x1p27 + 1, -0x1p27}, []float64{0x1p27 - 1, 0x1p27}
	var rounded, precise exact.Sum
	rounded.Dot(x, y)
	precise.ExactDot(x, y)
	fmt.Println(rounded.Value(), precise.Value())
	// Output: 0 -1
}

// A complex number is two sums.
func Example_complex() {
	var re, im exact.Sum
	for _, z := range []complex128{1e20 + 1i, 2 + 3i, -1e20 + 4i} {
		re.Add(real(z))
		im.Add(imag(z))
	}
	fmt.Println(complex(re.Value(), im.Value()))
	// Output: (2+8i)
}
