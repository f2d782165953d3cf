package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// An oracle sums with math/big: a number with so many bits that nothing is rounded, and flags of its own.
type oracle struct {
	sum, term                        big.Float
	values, negativeZeros            int
	nan, plusInfinity, minusInfinity bool
}

// exactly are enough bits for each sum of numbers from 2^-2148 to 2^2048.
const exactly = 4400

func (o *oracle) add(x float64) {
	o.values++
	switch {
	case math.IsNaN(x):
		o.nan = true
	case math.IsInf(x, 1):
		o.plusInfinity = true
	case math.IsInf(x, -1):
		o.minusInfinity = true
	case x == 0 && math.Signbit(x):
		o.negativeZeros++
	default:
		o.sum.SetPrec(exactly).Add(&o.sum, o.term.SetFloat64(x))
	}
}

// addProduct adds the product without an error.
func (o *oracle) addProduct(x, y float64) {
	if p := x * y; x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || p != p {
		o.add(p)
		return
	}
	o.values++
	o.term.SetPrec(exactly).Mul(big.NewFloat(x), big.NewFloat(y))
	o.sum.SetPrec(exactly).Add(&o.sum, &o.term)
}

func (o *oracle) value() float64 {
	if special, is := o.special(); is {
		return special
	}
	v, _ := o.sum.Float64()
	return v
}

func (o *oracle) float32() float32 {
	if special, is := o.special(); is {
		return float32(special)
	}
	v, _ := o.sum.Float32()
	return v
}

func (o *oracle) special() (float64, bool) {
	switch {
	case o.nan || o.plusInfinity && o.minusInfinity:
		return math.NaN(), true
	case o.plusInfinity:
		return math.Inf(1), true
	case o.minusInfinity:
		return math.Inf(-1), true
	case o.values > 0 && o.negativeZeros == o.values:
		return math.Copysign(0, -1), true
	}
	return 0, o.sum.Sign() == 0 // +0, also where math/big has -0
}

func oracleOf(x ...float64) *oracle {
	var o oracle
	for _, v := range x {
		o.add(v)
	}
	return &o
}

// same reports whether two numbers have the same bits, or are both NaN.
func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

// A kind makes the values of a random set.
type kind struct {
	name  string
	value func(rng *rand.Rand) float64
}

// anyBits is any float64 that is finite.
func anyBits(rng *rand.Rand) float64 {
	for {
		if x := math.Float64frombits(rng.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x
		}
	}
}

// between has an exponent between two, and any sign and fraction.
func between(low, high int) func(rng *rand.Rand) float64 {
	return func(rng *rand.Rand) float64 {
		exponent := uint64(low + rng.IntN(high-low+1) + 1023)
		return math.Float64frombits(rng.Uint64()&(signBit|fractionMask) | exponent<<fractionBits)
	}
}

var kinds = []kind{
	{"near one", between(-3, 3)},
	{"normal", func(rng *rand.Rand) float64 { return rng.NormFloat64() }},
	{"one binade", between(0, 0)},
	{"eighty binades", between(-40, 40)},
	{"two hundred binades", between(-100, 100)},
	{"all finite", anyBits},
	{"huge", between(990, 1023)},
	{"tiny", between(-1023, -980)},
	{"subnormal", between(-1023, -1023)},
	{"whole", func(rng *rand.Rand) float64 { return float64(rng.IntN(2000) - 1000) }},
	{"float32", func(rng *rand.Rand) float64 { return float64(float32(rng.NormFloat64())) }},
	{"one fraction", func(rng *rand.Rand) float64 { return math.Nextafter(math.Ldexp(2, rng.IntN(3)), 0) }},
	{"few", func(rng *rand.Rand) float64 {
		few := []float64{0, math.Copysign(0, -1), 1, -1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p1023}
		return few[rng.IntN(len(few))]
	}},
	{"special", func(rng *rand.Rand) float64 {
		few := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN()}
		return few[rng.IntN(len(few))]
	}},
	{"zeros", func(rng *rand.Rand) float64 { return math.Copysign(0, float64(rng.IntN(60)-1)) }},
	{"negative zeros", func(*rand.Rand) float64 { return math.Copysign(0, -1) }},
}

// length is how long a random set is: mostly short, sometimes several blocks.
func length(rng *rand.Rand) int {
	switch rng.IntN(10) {
	case 0:
		return rng.IntN(2200)
	case 1, 2:
		return rng.IntN(200)
	}
	return rng.IntN(24)
}

// randomSet makes a set of one kind, or of two. Two sets of three cancel, up to a few values that are much
// smaller: the condition of such a sum is up to 1e600.
func randomSet(rng *rand.Rand) []float64 {
	a, b := kinds[rng.IntN(len(kinds))], kinds[rng.IntN(len(kinds))]
	if rng.IntN(2) == 0 {
		b = a
	}
	set := make([]float64, length(rng))
	for i := range set {
		if set[i] = a.value(rng); rng.IntN(4) == 0 {
			set[i] = b.value(rng)
		}
	}
	switch rng.IntN(3) {
	case 0: // each value has its opposite
		for i := range len(set) / 2 {
			set[len(set)-1-i] = -set[i]
		}
	case 1: // the rounded sum goes away, and what rounding lost is left
		for i := len(set) - min(len(set), 1+rng.IntN(3)); i < len(set); i++ {
			if v := oracleOf(set[:i]...).value(); !math.IsInf(v, 0) {
				set[i] = -v
			}
		}
	}
	rng.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
	return set
}
