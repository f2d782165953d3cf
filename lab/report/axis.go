package report

import (
	"math"
	"slices"
)

// axis maps values to pixels.
type axis struct {
	log       bool
	from, to  float64 // pixels
	low, high float64
	empty     bool
}

func newAxis(log bool, from, to float64) axis { return axis{log: log, from: from, to: to, empty: true} }

// see makes the axis long enough for a value.
func (a *axis) see(v float64) {
	if a.log && v <= 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if a.empty {
		a.low, a.high, a.empty = v, v, false
	}
	a.low, a.high = min(a.low, v), max(a.high, v)
}

// round ends the axis at ticks.
func (a *axis) round() {
	switch {
	case a.empty:
		a.low, a.high = 0, 1
		if a.log {
			a.low = 0.1
		}
	case a.log:
		a.low, a.high = math.Pow(10, math.Floor(math.Log10(a.low))), math.Pow(10, math.Ceil(math.Log10(a.high)))
		if a.low == a.high {
			a.high *= 10
		}
	default:
		if a.low == a.high {
			a.high = a.low + 1
		}
		step := a.step()
		a.low, a.high = math.Floor(a.low/step)*step, math.Ceil(a.high/step)*step
	}
}

// widen leaves some space at both ends.
func (a *axis) widen() {
	switch {
	case a.empty:
		a.low, a.high = 1, 2
	case a.log:
		f := math.Pow(a.high/a.low, 0.03)
		if f == 1 {
			f = 1.5
		}
		a.low, a.high = a.low/f, a.high*f
	default:
		space := (a.high - a.low) * 0.03
		if space == 0 {
			space = 1
		}
		a.low, a.high = a.low-space, a.high+space
	}
}

// step is a round number, about a fifth of the axis.
func (a *axis) step() float64 {
	raw := (a.high - a.low) / 5
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= raw {
			return f * power
		}
	}
	return 10 * power
}

// ticks are the values that get a number.
func (a *axis) ticks() (ticks []float64) {
	if a.log {
		for v := a.low; v <= a.high*1.001; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	step := a.step()
	for i := range 12 {
		if v := (math.Round(a.low/step) + float64(i)) * step; v <= a.high+step/1000 {
			ticks = append(ticks, v)
		}
	}
	return ticks
}

// at is the pixel of a value.
func (a *axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// sortedX are the places of all points.
func sortedX(series []Series) (x []float64) {
	for _, s := range series {
		for _, v := range s.Points {
			x = append(x, v.X)
		}
	}
	slices.Sort(x)
	return slices.Compact(x)
}
