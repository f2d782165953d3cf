package exact

import "math"

// Most values never meet the accumulator. A block of up to 512 values goes this way:
//
//	values ──▶ level 1 ──residuals──▶ level 2 ──residuals──▶ if any is not 0: once more
//	              │                      │
//	            1 sum                  1 sum    both exact, and added to the accumulator
//
// A level splits each value x at one bit, which is the same for all values of the block:
//
//	next = s + x       rounded to a multiple of s's last bit
//	q    = next - s    the part of x above that bit, exactly
//	x    = x - q       the part below it, exactly
//	s    = next
//
// So s, which begins as a power of two times 1.5, gathers the parts above. Here is why nothing is lost. All values are smaller
// than 2^(e+1), where e is the largest exponent of the block. The first s is 1.5 * 2^t with t = e+11.
//
//   - All parts q together are at most 512 * 2^(e+1) = 2^(t-1). So s stays between 2^t and 2^(t+1), whatever the order,
//     and its last bit stays 2^(t-52). Therefore each q is a multiple of 2^(t-52), and next - s is exact.
//   - x - q is a multiple of x's last bit, and at most 2^(t-53). If q is 0, it is x. Otherwise, it is not larger than x.
//     So it has 53 bits at most, and is exact.
//   - A block may be dealt to several s, in lanes. The sums of their parts are multiples of 2^(t-52), and at most
//     2^(t-1). So their sum is exact, too.
//
// The residuals are at most 2^(t-53), so the next level has t-43 in place of t. Two levels take all bits down to
// 2^(e-84). A block with no exponent below e-32 leaves no residual. Other blocks take two levels more, from the largest
// exponent of their residuals, and so on. The accumulator takes what is left after some rounds, which take less time together than it
// does, and blocks that are too large or too small for these powers of two, or have infinities or NaN.
//
// Siegfried M. Rump, Takeshi Ogita and Shin'ichi Oishi, Accurate floating-point summation, part I, 2008: ExtractVector.
// James Demmel and Hong Diep Nguyen, Parallel reproducible summation, 2015: s in place of a sum of its own.
const (
	block            = 512
	least            = 16                        // values that are worth a block
	lanes            = 8                         // a block has a multiple of so many
	gather           = 11                        // t is the largest exponent plus this
	rounds           = 16                        // of two levels
	below            = 43                        // t of the next level is smaller by this
	smallestExponent = 1 + below - gather        // the exponent field of the smallest block whose second t is a normal number
	largestExponent  = exponentMask - 1 - gather // and of the largest block whose first t is finite
)

// AddAll adds all values of x.
func (s *Sum) AddAll(x []float64) {
	if len(x) >= least {
		x = s.addBlocks(x)
	}
	for _, v := range x {
		s.Add(v)
	}
}

// addBlocks adds as many lanes of x as there are, and returns the rest.
func (s *Sum) addBlocks(x []float64) []float64 {
	var rest [block]float64
	for len(x) >= lanes {
		n := min(len(x), block) &^ (lanes - 1)
		s.addBlock(x[:n], maximum(x[:n]), &rest)
		x = x[n:]
	}
	return x
}

// addBlock adds the lanes of a block. upper is their maximum. It reports whether two levels took all.
func (s *Sum) addBlock(x []float64, upper uint32, room *[block]float64) bool {
	if upper == 0 && s.addZeros(x) {
		return false
	}
	for round := range rounds {
		exponent := int(upper >> (fractionBits - 32))
		if exponent < smallestExponent || exponent > largestExponent {
			break
		}
		rest := room[:len(x)]
		sum1, sum2, left := extract(rest, x, power(exponent+gather), power(exponent+gather-below))
		s.Add(sum1) // it is not -0
		s.Add(sum2)
		if !left {
			return round == 0
		}
		x, upper = rest, maximum(rest)
	}
	for _, v := range x {
		s.Add(v)
	}
	return false
}

// power is 1.5 times the power of two with an exponent field.
func power(exponent int) float64 {
	return math.Float64frombits(uint64(exponent)<<fractionBits | 1<<(fractionBits-1))
}

// addZeros adds x if all values are zeros.
func (s *Sum) addZeros(x []float64) bool {
	or, and := uint64(0), uint64(signBit)
	for _, v := range x {
		b := math.Float64bits(v)
		or, and = or|b, and&b
	}
	if or&^signBit != 0 {
		return false
	}
	s.addZero(and)
	return true
}

// maximumGo is the largest upper half of a value without its sign. x has whole lanes.
func maximumGo(x []float64) uint32 {
	most := uint64(0)
	for _, v := range x {
		most = max(most, math.Float64bits(v)&^signBit)
	}
	return uint32(most >> 32)
}

// extractGo takes two levels off the values of x, from s1 and s2. It returns the sum of each level, writes the residuals
// to rest, and reports whether any is not 0. x has whole lanes, and may be rest.
func extractGo(rest, x []float64, s1, s2 float64) (sum1, sum2 float64, left bool) {
	a1, b1, c1, d1 := s1, s1, s1, s1
	a2, b2, c2, d2 := s2, s2, s2, s2
	or := uint64(0)
	rest = rest[:len(x)]
	for i := 3; i < len(x); i += 4 {
		var a, b, c, d float64
		a, a1 = split(x[i-3], a1)
		b, b1 = split(x[i-2], b1)
		c, c1 = split(x[i-1], c1)
		d, d1 = split(x[i], d1)
		a, a2 = split(a, a2)
		b, b2 = split(b, b2)
		c, c2 = split(c, c2)
		d, d2 = split(d, d2)
		rest[i-3], rest[i-2], rest[i-1], rest[i] = a, b, c, d
		or |= math.Float64bits(a) | math.Float64bits(b) | math.Float64bits(c) | math.Float64bits(d)
	}
	sum1 = (a1 - s1) + (b1 - s1) + (c1 - s1) + (d1 - s1)
	sum2 = (a2 - s2) + (b2 - s2) + (c2 - s2) + (d2 - s2)
	return sum1, sum2, or&^signBit != 0 // a residual of -0 is none
}

// split is one level for one value: the residual, and the next s.
func split(x, s float64) (residual, next float64) {
	next = s + x
	return x - (next - s), next
}
