package topology

import (
	"fmt"
	"math"
	"strings"

	"github.com/orwl/go-orwl/internal/excerpt"
)

// unbounded is the High of a range without an upper end.
const unbounded = math.MaxInt

// RangeError reports a rank, level, element or count out of range. WithRanks and
// Spread return it; all other methods and functions panic with it.
type RangeError struct {
	Method    string // the method or function that was called
	What      string // the argument, as in "rank"
	Value     int
	Low, High int // the allowed range, both ends included
}

func (e *RangeError) Error() string {
	allowed := fmt.Sprintf("%d..%d", e.Low, e.High)
	if e.High == unbounded {
		allowed = fmt.Sprintf("%d or more", e.Low)
	}
	return fmt.Sprintf("topology: %s: %s is %d: give %s", e.Method, e.What, e.Value, allowed)
}

// ParseError reports a description that Parse or Under cannot read. Its message
// shows the description and points at the bad part:
//
//	topology: unknown level "noed", did you mean "node"?
//		rack:2 noed:4 core:8
//		       ^~~~
//		allowed: machine, group, rack, node, ...
type ParseError struct {
	Text    string // the whole description
	Offset  int    // of the bad part in Text, in bytes
	Word    string // the bad part; empty if something is missing there
	Reason  string
	Allowed string // the alternatives
}

func (e *ParseError) Error() string {
	line, mark := excerpt.Of(e.Text, e.Offset, e.Word)
	return fmt.Sprintf("topology: %s\n\t%s\n\t%s\n\tallowed: %s", e.Reason, line, mark, e.Allowed)
}

// finerThan lists the levels that are finer than the given grain.
func finerThan(grain int) string {
	if grain == len(levelNames)-1 {
		return "no further level: " + levelNames[grain] + " is the finest"
	}
	return strings.Join(levelNames[grain+1:], ", ")
}

// coarserThan lists the levels that are coarser than the given grain, without the
// machine.
func coarserThan(grain int) string {
	if grain <= 1 {
		return "no level: " + levelNames[1] + " is the coarsest"
	}
	return strings.Join(levelNames[1:grain], ", ")
}

// nearestName returns the level name that is most like a misspelt one, or an empty
// string if none is similar.
func nearestName(name string) string {
	if len(name) > 2*len(levelNames[0]) {
		return ""
	}
	name = strings.ToLower(name)
	nearest, least := "", (len(name)+1)/2+1
	for _, known := range levelNames {
		if d := editDistance(name, known); d < least {
			nearest, least = known, d
		}
	}
	return nearest
}

// editDistance returns the Levenshtein distance of a and b: how many letters to
// insert, delete or exchange. It keeps one row of the table at a time.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			exchange := diagonal
			if a[i] != b[j] {
				exchange++
			}
			diagonal = row[j+1]
			row[j+1] = min(exchange, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
