package exact

import (
	"fmt"
	"math"
	"math/bits"
)

// A dot product is a sum of products, in blocks as other sums.
//
// Dot rounds each product to a float64, as the loop in a program does. ExactDot adds two numbers for each product:
//
//	high = x * y                 rounded
//	low  = fma(x, y, -high)      what rounding lost, exactly
//
// low is exact unless it has bits below the smallest float64, or high is infinite. Neither happens if high is finite, and
// 2^-900 at least: then x*y is a multiple of 2^-1005. If a block has another product that is not 0, all products of this
// block are computed as integers of 106 bits.
const smallHigh = (1023 - 900) << (fractionBits - 32) // the upper half of 2^-900

// Dot adds x[i]*y[i], rounded to a float64, for all i. A product that overflows is infinite, as in Go. Dot panics if the
// lengths differ.
func (s *Sum) Dot(x, y []float64) {
	check(x, y)
	if len(x) >= least {
		x, y = s.dotBlocks(x, y)
	}
	for i := range x {
		s.Add(float64(x[i] * y[i])) // the conversion rounds
	}
}

func (s *Sum) dotBlocks(x, y []float64) (restX, restY []float64) {
	for len(x) >= lanes {
		n := min(len(x), block) &^ (lanes - 1)
		if !s.dotLikeBefore(x[:n], y[:n]) {
			s.dotBlock(x[:n], y[:n])
		}
		x, y = x[n:], y[n:]
	}
	return x, y
}

// dotBlock adds a block of products. If two levels took all of it, it says so to the next block.
func (s *Sum) dotBlock(x, y []float64) {
	var room [block]float64
	upper := multiply(room[:len(x)], x, y)
	s.exponent = 0
	if s.addBlock(room[:len(x)], upper, &room) {
		s.exponent = uint16(upper>>(fractionBits-32)) + 1
	}
}

// dotLikeBefore adds a block of products in one go, if no product is larger than the block before lets expect, and two levels take
// all of them. Otherwise, it adds nothing and returns false.
func (s *Sum) dotLikeBefore(x, y []float64) bool {
	exponent := int(s.exponent)
	if exponent < smallestExponent {
		return false
	}
	sum1, sum2, most, left := extractDot(x, y, power(exponent+gather), power(exponent+gather-below))
	largest := int(most >> fractionBits)
	if left || largest > exponent { // a value that is too large for these powers of two leaves a NaN, as an infinity does
		return false
	}
	if most > 0 { // zeros say nothing about the next block
		s.exponent = uint16(min(exponent, largest+slack))
	}
	s.Add(sum1)
	s.Add(sum2)
	return true
}

// slack is how much smaller the products of a block may be, in powers of two, until the levels follow them down.
const slack = 4

// ExactDot adds x[i]*y[i] for all i, without rounding a product. So no product of numbers is too large or too small.
// ExactDot panics if the lengths differ.
func (s *Sum) ExactDot(x, y []float64) {
	check(x, y)
	if len(x) >= least {
		x, y = s.exactDotBlocks(x, y)
	}
	for i := range x {
		s.addProduct(x[i], y[i])
	}
}

func (s *Sum) exactDotBlocks(x, y []float64) (restX, restY []float64) {
	var highs, lows [block]float64
	for len(x) >= lanes {
		n := min(len(x), block) &^ (lanes - 1)
		s.exactDotBlock(x[:n], y[:n], &highs, &lows)
		x, y = x[n:], y[n:]
	}
	return x, y
}

func (s *Sum) exactDotBlock(x, y []float64, highs, lows *[block]float64) {
	high, low := highs[:len(x)], lows[:len(x)]
	upper, lower, upperLow := multiplyExact(high, low, x, y)
	if upper >= exponentMask<<(fractionBits-32) || lower < smallHigh && anySmall(high, x, y) {
		for i := range x {
			s.addProduct(x[i], y[i])
		}
		return
	}
	s.addBlock(high, upper, highs)
	if upperLow != 0 { // a low part is 0, or at least 2^-1005
		s.addBlock(low, upperLow, lows)
	}
}

// anySmall reports whether any product is below 2^-900 and not 0.
func anySmall(high, x, y []float64) bool {
	for i, p := range high {
		if math.Abs(p) < 0x1p-900 && x[i] != 0 && y[i] != 0 {
			return true
		}
	}
	return false
}

// addProduct adds x*y as an integer of 106 bits.
func (s *Sum) addProduct(x, y float64) {
	mx, ex, zeroX := number(x)
	my, ey, zeroY := number(y)
	if zeroX || zeroY {
		s.Add(float64(x * y))
		return
	}
	s.flags |= some | notMinus0
	sign := math.Float64bits(x) ^ math.Float64bits(y)
	high, low := bits.Mul64(mx, my)
	s.put(low&(1<<53-1), sign, ex+ey)
	s.put(high<<11|low>>53, sign, ex+ey+53)
}

// number is x as m times 2^(shift-1074). Zeros, infinities and NaN are special.
func number(x float64) (m uint64, shift int, special bool) {
	b := math.Float64bits(x)
	exponent, m := int(b>>fractionBits)&exponentMask, b&fractionMask
	switch exponent {
	case 0:
		return m, 0, m == 0
	case exponentMask:
		return 0, 0, true
	}
	return m | 1<<fractionBits, exponent - 1, false
}

func check(x, y []float64) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("exact: a dot product of %d values and %d: want as many", len(x), len(y)))
	}
}

// multiplyGo writes the products to p, and returns their maximum. x and y have whole lanes.
func multiplyGo(p, x, y []float64) (upper uint32) {
	most := uint64(0)
	x, y = x[:len(p)], y[:len(p)]
	for i := range p {
		p[i] = float64(x[i] * y[i])
		most = max(most, math.Float64bits(p[i])&^signBit)
	}
	return uint32(most >> 32)
}

// extractDotGo takes two levels off the rounded products, from s1 and s2. It returns the sum of each level and the largest
// product without its sign, and reports whether any residual is not 0. x and y have whole lanes.
func extractDotGo(x, y []float64, s1, s2 float64) (sum1, sum2 float64, most uint64, left bool) {
	a1, a2, b1, b2, or := s1, s2, s1, s2, uint64(0)
	y = y[:len(x)]
	for i := 1; i < len(x); i += 2 {
		a, b := float64(x[i-1]*y[i-1]), float64(x[i]*y[i])
		most = max(most, math.Float64bits(a)&^signBit, math.Float64bits(b)&^signBit)
		a, a1 = split(a, a1)
		b, b1 = split(b, b1)
		a, a2 = split(a, a2)
		b, b2 = split(b, b2)
		or |= math.Float64bits(a) | math.Float64bits(b)
	}
	return (a1 - s1) + (b1 - s1), (a2 - s2) + (b2 - s2), most, or&^signBit != 0
}

// multiplyExactGo writes both parts of the products to high and low. It returns the maximum and the minimum of the
// high parts, and the maximum of the low ones.
func multiplyExactGo(high, low, x, y []float64) (upper, lower, upperLow uint32) {
	most, fewest, mostLow := uint64(0), uint64(math.MaxUint64), uint64(0)
	low, x, y = low[:len(high)], x[:len(high)], y[:len(high)]
	for i := range high {
		h := float64(x[i] * y[i])
		l := math.FMA(x[i], y[i], -h)
		high[i], low[i] = h, l
		b := math.Float64bits(h) &^ signBit
		most, fewest = max(most, b), min(fewest, b)
		mostLow = max(mostLow, math.Float64bits(l)&^signBit)
	}
	return uint32(most >> 32), uint32(fewest >> 32), uint32(mostLow >> 32)
}
