package taskbench

import (
	"math"
	"testing"
)

// TestSipHash compares with the reference vectors of SipHash-2-4: the key is the bytes 0 to 15,
// and the input is the bytes 0 to 7, or 0 to 15.
func TestSipHash(t *testing.T) {
	const k0, k1 = 0x0706050403020100, 0x0f0e0d0c0b0a0908
	for _, c := range []struct {
		words []int
		want  uint64
	}{
		{nil, 0x726fdb47dd0e0e31},
		{[]int{0x0706050403020100}, 0x93f5f5799a932462},
		{[]int{0x0706050403020100, 0x0f0e0d0c0b0a0908}, 0x3f2acc7f57c29bdb},
	} {
		if got := sipHash(k0, k1, c.words); got != c.want {
			t.Errorf("%x: %x, want %x", c.words, got, c.want)
		}
	}
}

// TestCompute compares the kernel of this processor with its listing.
func TestCompute(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 5, 100} {
		var first, got, want [lanes]float64
		for i := range first {
			first[i] = -0.5 + float64(i)/100
		}
		iterate(&got, &first, n)
		iterateHere(&want, &first, n)
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("%d iterations, lane %d: %v, want %v", n, i, got[i], want[i])
			}
		}
	}
}

// TestMemory marks each byte and looks at which halves have been copied.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		iterations, step int
		want             string
	}{
		{0, 5, "abcdefghijklmnop"},
		{1, 0, "ababefghijklmnop"},
		{1, 1, "abcdefefijklmnop"},
		{2, 0, "abcdabcdijklmnop"},
		{3, 1, "abcdabcdijklmnmn"}, // the last sample, and then the first two
	} {
		scratch := []byte("abcdefghijklmnop")
		memory(scratch, 4, c.iterations, c.step)
		if string(scratch) != c.want {
			t.Errorf("%d iterations in step %d: %s, want %s", c.iterations, c.step, scratch, c.want)
		}
	}
}
