package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/lab"
)

// prefixes are the units that numbers of a unit are shown in, from large to small.
var prefixes = map[string][]struct {
	from float64
	name string
}{
	"ns":  {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}},
	"1/s": {{1e9, "G/s"}, {1e6, "M/s"}, {1e3, "k/s"}, {1, "/s"}},
	"B/s": {{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}},
}

// scale is the unit that a number is shown in, and by what to divide it.
func scale(v float64, unit string) (by float64, name string) {
	of := prefixes[unit]
	for _, p := range of {
		if math.Abs(v) >= p.from {
			return p.from, p.name
		}
	}
	if len(of) > 0 {
		return 1, of[len(of)-1].name
	}
	return 1, unit
}

// show is a number with its unit.
func show(v float64, unit string) string {
	by, name := scale(v, unit)
	text := digits(v / by)
	if name != "" {
		text += " " + name
	}
	return text
}

// digits is a number with three digits.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v) && a >= 1:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a == 0:
		return "0"
	case a >= 0.001:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// tick is a number at an axis: as short as it can be.
func tick(v float64) string {
	if a := math.Abs(v); a >= 1e6 || a > 0 && a < 1e-4 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

// interval is a confidence interval with the unit of the median.
func interval(f lab.Figure) string {
	by, _ := scale(f.Median, f.Unit)
	return fmt.Sprintf("%s..%s", digits(f.Low/by), digits(f.High/by))
}

// percent is a share with one digit after the point, and with three if it is small.
func percent(share float64) string {
	if p := 100 * share; p == 0 || p >= 1 {
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0") + " %"
	}
	return strings.TrimRight(strconv.FormatFloat(100*share, 'f', 3, 64), "0") + " %"
}
