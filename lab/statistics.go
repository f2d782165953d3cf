package lab

import (
	"math"
	"slices"
)

// Estimate is the median of a figure over the repeats, with a confidence interval.
type Estimate struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	N      int     `json:"n"`
	// Sure is the probability that the interval has the median of all possible repeats in it:
	// at least 0.95 from six repeats on.
	Sure float64 `json:"sure"`
}

// EstimateOf is the median of some values. The interval goes from one of the sorted values to its
// counterpart from the other end. It is the smallest one that is sure enough, or the whole range.
// It assumes nothing about how the values are distributed.
func EstimateOf(values []float64) Estimate {
	n := len(values)
	if n == 0 {
		return Estimate{}
	}
	v := slices.Sorted(slices.Values(values))
	e := Estimate{Median: (v[(n-1)/2] + v[n/2]) / 2, N: n}
	k := 0
	for k+1 <= (n-1)/2 && sureOf(n, k+1) >= confidence {
		k++
	}
	e.Low, e.High, e.Sure = v[k], v[n-1-k], sureOf(n, k)
	return e
}

// confidence is how sure an interval should be.
const confidence = 0.95

// sureOf is the probability that the median is between the k-th smallest and the k-th largest
// of n values, where k counts from 0: 1 - 2·P(at most k of n fair coins show heads).
func sureOf(n, k int) float64 {
	tail, term := 0.0, math.Pow(2, -float64(n)) // n over i, times 2^-n
	for i := 0; i <= k; i++ {
		tail += term
		term *= float64(n-i) / float64(i+1)
	}
	return max(0, 1-2*tail)
}

// variation is the coefficient of variation with Bessel's correction, 0 for less than two values
// (Uffmann22, §4.1.3).
func variation(values []float64) float64 {
	n, sum, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	if n < 2 || sum == 0 {
		return 0
	}
	for _, v := range values {
		squares += (v - sum/n) * (v - sum/n)
	}
	return math.Sqrt(squares/(n-1)) / (sum / n)
}
