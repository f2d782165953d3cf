package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/lab"
)

// Data is what came of a study.
type Data struct {
	shows string
	Lines []Line
}

// Line is what came of a contender.
type Line struct {
	Name   string
	Points []Point
}

// Point is all figures at one place of the X axis.
type Point struct {
	X       float64
	Figures map[string]float64
}

func (d *Data) add(name string, p Point) {
	i := slices.IndexFunc(d.Lines, func(l Line) bool { return l.Name == name })
	if i < 0 {
		i, d.Lines = len(d.Lines), append(d.Lines, Line{Name: name})
	}
	d.Lines[i].Points = append(d.Lines[i].Points, p)
}

// of is a figure of a contender, NaN if there is none.
func (d *Data) of(figure, name string, x float64) float64 {
	for _, l := range d.Lines {
		for _, p := range l.Points {
			if l.Name != name || p.X != x {
				continue
			}
			if v, ok := p.Figures[figure]; ok {
				return v
			}
		}
	}
	return math.NaN()
}

// at is the figure that the study shows.
func (d *Data) at(name string, x float64) float64 { return d.of(d.shows, name, x) }

// places are the X of a contender, from the least one on.
func (d *Data) places(name string, least float64) (xs []float64) {
	for _, l := range d.Lines {
		for _, p := range l.Points {
			if l.Name == name && p.X >= least {
				xs = append(xs, p.X)
			}
		}
	}
	return xs
}

// rate reports whether more is better in the figure that the study shows.
func (d *Data) rate() bool {
	return d.shows == lab.FigureThroughput || strings.Contains(d.shows, "rate") || strings.Contains(d.shows, "path")
}

// speed is how many times as fast as b a is.
func (d *Data) speed(a, b string, x float64) float64 {
	if d.rate() {
		return d.at(a, x) / d.at(b, x)
	}
	return d.at(b, x) / d.at(a, x)
}

// tolerance is how far a factor may be off that a paper gives as about n.
const tolerance = 1.5

// about claims that a is about so many times as fast as b.
func about(factor float64, a, b string, x float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.speed(a, b, x)
		return fmt.Sprintf("%s is %.2f times as fast as %s at %g", a, v, b, x), v >= factor/tolerance && v <= factor*tolerance
	}
}

// between claims that a is more than low and at most high times as fast as b.
func between(low, high float64, a, b string, x float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.speed(a, b, x)
		return fmt.Sprintf("%s is %.2f times as fast as %s at %g", a, v, b, x), v > low && v <= high
	}
}

// reaches claims that another figure of each contender is from least to most, at x.
func reaches(figure string, least, most, x float64, names ...string) Judge {
	return func(d *Data) (string, bool) {
		low, high := math.Inf(1), math.Inf(-1)
		for _, n := range names {
			v := d.of(figure, n, x)
			low, high = min(low, v), max(high, v)
		}
		return fmt.Sprintf("%s at %g: %.3g to %.3g", figure, x, low, high), low >= least && high <= most
	}
}

// faster claims that a is more than so many times as fast as each of the others, from least on.
func faster(factor float64, a string, least float64, others ...string) Judge {
	return func(d *Data) (string, bool) {
		worst, text := math.Inf(1), "nothing was compared"
		for _, b := range others {
			for _, x := range d.places(a, least) {
				v := d.speed(a, b, x)
				if math.IsNaN(v) {
					return fmt.Sprintf("%s has no figure at %g", b, x), false
				}
				if v < worst {
					worst, text = v, fmt.Sprintf("%s is at least %.2f times as fast (%s at %g)", a, v, b, x)
				}
			}
		}
		return text, worst > factor && !math.IsInf(worst, 1)
	}
}

// ordered claims that contenders get faster in this order, at x.
func ordered(x float64, names ...string) Judge {
	return func(d *Data) (string, bool) {
		holds := true
		text := fmt.Sprintf("at %g, %s 1.00", x, names[0])
		for i, n := range names[1:] {
			text += fmt.Sprintf(", %s %.2f", n, d.speed(n, names[0], x))
			holds = holds && d.speed(n, names[i], x) > 1
		}
		return text + " (speed)", holds
	}
}

// loses claims that a contender is more than so many times as slow at the second place as at the
// first, and less than so many times.
func loses(name string, from, to, least, most float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.at(name, to) / d.at(name, from)
		if d.rate() {
			v = 1 / v
		}
		return fmt.Sprintf("%s at %g is %.2f times as slow as at %g", name, to, v, from), v > least && v < most
	}
}

// atLeast claims that another figure of the contenders has some size, at x.
func atLeast(figure string, least, x float64, names ...string) Judge {
	return func(d *Data) (string, bool) {
		worst := math.Inf(1)
		for _, n := range names {
			if v := d.of(figure, n, x); v < worst || math.IsNaN(v) {
				worst = v
			}
		}
		return fmt.Sprintf("%s at %g: at least %.3g", figure, x, worst), worst >= least
	}
}

// withinAt is within at one place.
func withinAt(share, x float64, names ...string) Judge {
	return func(d *Data) (string, bool) {
		one := Data{shows: d.shows}
		for _, n := range names {
			one.add(n, Point{X: x, Figures: map[string]float64{d.shows: d.at(n, x)}})
		}
		return within(share, x, names...)(&one)
	}
}

// within claims that contenders differ by at most so much, from least on.
func within(share float64, least float64, names ...string) Judge {
	return func(d *Data) (string, bool) {
		worst, text := math.Inf(-1), "nothing was compared"
		for _, x := range d.places(names[0], least) {
			low, high := math.Inf(1), 0.0
			for _, n := range names {
				v := d.at(n, x)
				low, high = min(low, v), max(high, v)
			}
			v := high/low - 1
			if math.IsNaN(v) {
				return fmt.Sprintf("a figure is missing at %g", x), false
			}
			if v > worst {
				worst, text = v, fmt.Sprintf("they differ by up to %.1f %% (at %g)", 100*v, x)
			}
		}
		return text, worst <= share && !math.IsInf(worst, -1)
	}
}

// grows claims that a figure is at most so many times as large at the second place as at the first.
func grows(most float64, name string, from, to float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.at(name, to) / d.at(name, from)
		return fmt.Sprintf("%s at %g: %.2f times what it is at %g", name, to, v, from), v <= most
	}
}

// sum claims that one thing takes no longer than n of another one, at x.
func sum(one, other string, n, x float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.at(one, x) / (n * d.at(other, x))
		return fmt.Sprintf("%s at %g takes %.3g of %g times %s", one, x, v, n, other), v <= 1
	}
}

// linear claims that a figure grows by the same amount for each byte, between three places.
func linear(name string, xs ...float64) Judge {
	return func(d *Data) (string, bool) {
		slope := func(i int) float64 { return (d.at(name, xs[i+1]) - d.at(name, xs[i])) / (xs[i+1] - xs[i]) }
		first, second := slope(0), slope(1)
		return fmt.Sprintf("%s: %.3g ns a byte from %g to %g, and %.3g to %g", name, first, xs[0], xs[1], second, xs[2]),
			second <= first*tolerance && second >= first/tolerance
	}
}

// on judges another figure of the contenders than the one that the study shows.
func on(figure string, j Judge) Judge {
	return func(d *Data) (string, bool) {
		came, holds := j(&Data{shows: figure, Lines: d.Lines})
		return figure + ": " + came, holds
	}
}

// atMostOf claims that another figure of the contenders has at most some size, at x.
func atMostOf(figure string, most, x float64, names ...string) Judge {
	return func(d *Data) (string, bool) {
		worst := math.Inf(-1)
		for _, n := range names {
			if v := d.of(figure, n, x); v > worst || math.IsNaN(v) {
				worst = v
			}
		}
		return fmt.Sprintf("%s at %g: at most %.3g", figure, x, worst), worst <= most
	}
}

// all claims several things.
func all(judges ...Judge) Judge {
	return func(d *Data) (string, bool) {
		var came []string
		holds := true
		for _, j := range judges {
			c, h := j(d)
			came, holds = append(came, c), holds && h
		}
		return strings.Join(came, "; "), holds
	}
}

// rises claims that a contender is faster at the second place than at the first.
func rises(name string, from, to float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.at(name, to) / d.at(name, from)
		return fmt.Sprintf("%s at %g: %.2f of what it is at %g", name, to, v, from), v > 1
	}
}

// falls claims the opposite.
func falls(name string, from, to float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.at(name, to) / d.at(name, from)
		return fmt.Sprintf("%s at %g: %.2f of what it is at %g", name, to, v, from), v < 1
	}
}

// gainsLess claims that a is ahead of b by a smaller factor at the second place than at the first.
func gainsLess(a, b string, from, to float64) Judge {
	return func(d *Data) (string, bool) {
		u, v := d.speed(a, b, from), d.speed(a, b, to)
		return fmt.Sprintf("%s is %.2f times as fast as %s at %g, and %.2f times at %g", a, u, b, from, v, to), v < u
	}
}

// less claims that a figure is less for a than for b.
func less(name, a, b string, x float64) Judge {
	return func(d *Data) (string, bool) {
		u, v := d.of(name, a, x), d.of(name, b, x)
		return fmt.Sprintf("%s at %g: %.3g of %s, %.3g of %s", name, x, u, a, v, b), u < v
	}
}

// onceMore claims that one thing takes longer than another one by about so many nanoseconds, at x.
func onceMore(one, other string, x, by float64) Judge {
	return func(d *Data) (string, bool) {
		v := d.at(one, x) - d.at(other, x)
		return fmt.Sprintf("%s at %g takes %.3g ns more than %s", one, x, v, other), v >= by/tolerance && v <= by*tolerance
	}
}
