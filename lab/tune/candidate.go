package tune

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
)

// Candidate is a lock with options.
type Candidate struct {
	Lock    lab.Lock
	Options locks.Options
}

// Literal is the options as Go has them.
func (c Candidate) Literal() string { return literal(reflect.ValueOf(c.Options)) }

// literal is a value as Go has it. A struct leaves out fields that are zero.
func literal(v reflect.Value) string {
	if v.Kind() != reflect.Struct {
		return fmt.Sprintf("%#v", v.Interface())
	}
	var fields []string
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			fields = append(fields, v.Type().Field(i).Name+": "+literal(v.Field(i)))
		}
	}
	return v.Type().String() + "{" + strings.Join(fields, ", ") + "}"
}

// Score is what came of a candidate.
type Score struct {
	Cost float64 // less is better
	// Beyond is how far the candidate is beyond the bounds, 0 within them.
	Beyond float64
	CV     float64 // unfairness
	Wait   float64 // the 99th percentile of single waits, in nanoseconds
}

// better reports whether a score is better than another one, by more than some share of its cost.
func (s Score) better(than Score, share float64) bool {
	if s.Beyond != than.Beyond {
		return s.Beyond < than.Beyond
	}
	return s.Cost < than.Cost*(1-share)
}

// Scored is a candidate and its score.
type Scored struct {
	Candidate
	Score
}

// Bounds say how unfair a lock may be. Zero is no bound.
type Bounds struct {
	CV   float64 // the coefficient of variation of the ranks' iterations
	Wait float64 // the 99th percentile of single waits, in nanoseconds
}

// beyond is how far a score is beyond the bounds, as a share of them.
func (b Bounds) beyond(s Score) float64 {
	far := 0.0
	for _, v := range [][2]float64{{s.CV, b.CV}, {s.Wait, b.Wait}} {
		if v[1] > 0 && v[0] > v[1] {
			far = max(far, v[0]/v[1]-1)
		}
	}
	return far
}
