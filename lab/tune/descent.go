package tune

import (
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/orwl/go-orwl/locks"
)

// descent is one lock on its way to better options.
type descent struct {
	*run
	best    Scored
	settled bool // no step helps any more
	step    map[string]int
}

// The first step of an option multiplies or divides it by wide. When neither helps, narrow is tried,
// and then the option rests.
const (
	wide   = 4
	narrow = 2
)

// sweep goes once through all options, in an order that is drawn. It plays at most budget times.
func (d *descent) sweep(random *rand.Rand, budget int) {
	ranges := d.best.Lock.Ranges(d.Trees[0])
	end := d.plays + budget
	d.settled = true
	for _, i := range random.Perm(len(ranges)) {
		r := ranges[i]
		if given(r.Option, d.Options) {
			continue
		}
		step, seen := d.step[r.Option]
		if !seen {
			step = wide
		}
		if step == 1 {
			continue
		}
		helped := false
		for _, up := range []bool{true, false} {
			for d.plays < end && d.try(r, step, up) {
				helped = true
			}
			if helped {
				break
			}
		}
		if d.plays >= end || d.err != nil {
			d.settled = false
			return
		}
		if !helped {
			step = map[int]int{wide: narrow, narrow: 1}[step]
		}
		if d.step[r.Option] = step; step > 1 {
			d.settled = false
		}
	}
}

// try makes a step, and reports whether it helps.
func (d *descent) try(r locks.Range, step int, up bool) bool {
	from := r.Of(d.best.Options)
	to := from / step
	if up {
		to = from * step
	}
	if to = min(max(to, r.Least, 1), r.Most); to == from {
		return false
	}
	c := Candidate{d.best.Lock, r.With(d.best.Options, to)}
	if !d.fits(c) {
		return false
	}
	score, err := d.play(c, 1)
	if err != nil || !score.better(d.best.Score, improves) {
		return false
	}
	d.best = Scored{c, score}
	return true
}

// given reports whether the user has given an option. Thresholds are given together.
func given(option string, o locks.Options) bool {
	field, _, _ := strings.Cut(option, "[")
	field, _, _ = strings.Cut(field, ".")
	return !reflect.ValueOf(o).FieldByName(field).IsZero()
}
