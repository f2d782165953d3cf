package main

import (
	"context"
	"math/big"
	"testing"
)

// TestNoise compares with hashes that another program computed, in another
// language, of a matrix with 2 rows of 3 elements and its ring.
func TestNoise(t *testing.T) {
	for p, want := range []string{
		planeData: "0e47480fe1ba33ffb3a5423744953d2f24c4988bd82715667c5ed115af3b19da",
		planeZb:   "1440fc791c8554f68617abcdd85624350bd3afa43c506aff39caa555fe365014",
		planeZr:   "6d9e6d95169062df61532a24358b96186fe677fe08ce885bf215e4a8124decfe",
		planeZu:   "f3d3d161ebed486b0818dcc587cee5534987783dddd3a89eeb23689f1c384c48",
		planeZv:   "e2a923a68b41d9c2177f1f9265879bd6d8e5c92612095fa1c664ef55ae84f4a7",
		planeZz:   "9ae4af77cd0b62ebe2e1fa672bf927b9b6404ae28ecb386a3af0ba7eb3229046",
	} {
		m := newMatrix(4, 5)
		for i := range 4 {
			for j := range 5 {
				m.row(i)[j] = noise(plane(p), i, j)
			}
		}
		if got := sha(t, rows(m)); got != want {
			t.Errorf("plane %d: sha256 %s, want %s", p, got, want)
		}
	}
}

// TestNoiseStepByStep follows the specification in whole numbers of any size,
// at places where the products exceed 64 bits.
func TestNoiseStepByStep(t *testing.T) {
	scale := []float64{1, 0.25, 0.25, 0.25, 0.25, 0.01}
	for p := range planes {
		for _, at := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {17, 4}, {1 << 20, 1<<20 + 1}} {
			if got, want := noise(p, at[0], at[1]), scale[p]*spelledOut(int(p)+1, at[0], at[1]); got != want {
				t.Errorf("plane %d at %v is %v, want %v", p, at, got, want)
			}
		}
	}
}

func spelledOut(t, i, j int) float64 {
	number := func(text string) *big.Int {
		n, _ := new(big.Int).SetString(text, 0)
		return n
	}
	times := func(factor int, text string) *big.Int {
		return new(big.Int).Mul(big.NewInt(int64(factor)), number(text))
	}
	word := number("0x10000000000000000")
	step := func(z *big.Int, shift uint, factor string) *big.Int {
		z = new(big.Int).Xor(z, new(big.Int).Rsh(z, shift))
		return z.Mod(z.Mul(z, number(factor)), word)
	}
	z := times(t, "0x9E3779B97F4A7C15")
	z.Add(z, times(i, "0xBF58476D1CE4E5B9"))
	z.Add(z, times(j, "0x94D049BB133111EB"))
	z.Mod(z, word)
	z = step(z, 30, "0xBF58476D1CE4E5B9")
	z = step(z, 27, "0x94D049BB133111EB")
	z = step(z, 31, "1")
	u := new(big.Rat).SetFrac(z.Rsh(z, 11), big.NewInt(1<<53))
	value, _ := u.Float64()
	return value
}

// TestBlocksAgree checks that a block's elements depend on where they lie in
// the whole matrix only, the border included.
func TestBlocksAgree(t *testing.T) {
	p := problem{values: noise}
	whole, err := p.newBlock(context.Background(), extent{top: 1, left: 1, rows: 9, cols: 7})
	if err != nil {
		t.Fatal(err)
	}
	part, err := p.newBlock(context.Background(), extent{top: 4, left: 3, rows: 2, cols: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i := range part.rows + 2 {
		for j, got := range part.row(i) {
			if want := whole.row(3 + i)[2+j]; got != want {
				t.Errorf("data at (%d,%d) of the part is %v, want %v", i, j, got, want)
			}
		}
	}
	for p := planeZb; p < planes; p++ {
		for i := 1; i <= part.rows; i++ {
			for j, got := range part.coefficients(p, i) {
				if want := whole.coefficients(p, 3+i)[2+j]; got != want {
					t.Errorf("plane %d at (%d,%d) of the part is %v, want %v", p, i, j, got, want)
				}
			}
		}
	}
}
