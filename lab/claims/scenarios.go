package claims

import (
	"fmt"
	"math"
	"strings"
)

// Judges of UPB, whose scenarios are figures of a contender at one place.

// exceeds claims that one figure of each contender is larger than another one, at x.
func exceeds(figure, than string, x float64, names ...string) Judge {
	return func(d *Data) (string, bool) {
		var came []string
		holds := true
		for _, n := range names {
			u, v := d.of(figure, n, x), d.of(than, n, x)
			came, holds = append(came, fmt.Sprintf("%s of %s: %.3g, %s %.3g", figure, n, u, than, v)), holds && u > v
		}
		return strings.Join(came, "; "), holds
	}
}

// alike claims that figures of one contender differ by at most so much, at x.
func alike(share float64, name string, x float64, figures ...string) Judge {
	return func(d *Data) (string, bool) {
		low, high := math.Inf(1), math.Inf(-1)
		for _, f := range figures {
			v := d.of(f, name, x)
			low, high = min(low, v), max(high, v)
		}
		v := high/low - 1
		return fmt.Sprintf("%s of %s differ by %.1f %%", strings.Join(figures, " and "), name, 100*v), v <= share
	}
}

// from are scenarios of UPB, by where the rank lives that takes the lock. Any rank may have had it before.
func from(place string) []string { return []string{"1" + place, "2" + place, "3" + place} }

// mean is how many times as long b takes as a in the mean of some figures, which are times.
func (d *Data) mean(figures []string, a, b string, x float64) float64 {
	var u, v float64
	for _, f := range figures {
		u, v = u+d.of(f, a, x), v+d.of(f, b, x)
	}
	return v / u
}

// aboutFrom claims that a is about so many times as fast as b in some scenarios.
func aboutFrom(factor float64, place, a, b string, x float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.mean(from(place), a, b, x)
		return fmt.Sprintf("%s is %.2f times as fast as %s in the mean of %s", a, v, b, strings.Join(from(place), ", ")), v >= factor/tolerance && v <= factor*tolerance
	}
}

// gainsMore claims that a is ahead of b by a larger factor in one place's scenarios than in another one's.
func gainsMore(place, than, a, b string, x float64) Judge {
	return func(d *Data) (string, bool) {
		u, v := d.mean(from(place), a, b, x), d.mean(from(than), a, b, x)
		return fmt.Sprintf("%s is %.2f times as fast as %s in %s, and %.2f times in %s", a, u, b, strings.Join(from(place), ", "), v, strings.Join(from(than), ", ")), u > v
	}
}
