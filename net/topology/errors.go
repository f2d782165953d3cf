package topology

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unbounded is the High of a RangeError without an upper end.
const unbounded = math.MaxInt

// RangeError is a rank, level, element or count that a tree does not have. The
// methods that make up lock operations panic with it; WithRanks and Spread
// return it.
type RangeError struct {
	Method    string
	What      string
	Value     int
	Low, High int // what is allowed, both ends included
}

func (e *RangeError) Error() string {
	allowed := fmt.Sprintf("%d..%d", e.Low, e.High)
	if e.High == unbounded {
		allowed = fmt.Sprintf("%d or more", e.Low)
	}
	return fmt.Sprintf("topology: %s: %s is %d: give %s", e.Method, e.What, e.Value, allowed)
}

// ParseError is a description that Parse or Under could not read. Its message
// shows the text and points at the bad part of it:
//
//	topology: "noed" is no level, did you mean "node"?
//		rack:2 noed:4 core:8
//		       ^~~~
//		allowed: machine, group, rack, node, ...
type ParseError struct {
	Text    string // the whole description
	Offset  int    // where in Text the bad part begins, in bytes
	Word    string // the bad part; empty if something is missing there
	Reason  string
	Allowed string // what could stand there instead
}

func (e *ParseError) Error() string {
	line, caret := e.excerpt()
	return fmt.Sprintf("topology: %s\n\t%s\n\t%s\n\tallowed: %s", e.Reason, line, caret, e.Allowed)
}

// excerptSide is how many characters are shown on either side of the bad part,
// and of the bad part itself, when the description is long.
const excerptSide = 40

// excerpt returns the surroundings of the bad part and a line that points at
// it. Both have one column per character: what would break the columns is
// replaced.
func (e *ParseError) excerpt() (line, caret string) {
	before := columns(e.Text[:e.Offset])
	bad := columns(e.Word)
	after := columns(e.Text[e.Offset+len(e.Word):])
	if len(before) > excerptSide {
		before = append([]rune("…"), before[len(before)-excerptSide:]...)
	}
	if len(bad) > excerptSide {
		bad = append(bad[:excerptSide], '…')
	}
	if len(after) > excerptSide {
		after = append(after[:excerptSide], '…')
	}
	caret = strings.Repeat(" ", len(before)) + "^" + strings.Repeat("~", max(len(bad)-1, 0))
	return string(before) + string(bad) + string(after), caret
}

// columns makes every character printable and as wide as a letter, as far as
// that can be known.
func columns(text string) []rune {
	runes := make([]rune, 0, min(len(text), 1024))
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case !unicode.IsPrint(r):
			r = utf8.RuneError
		}
		runes = append(runes, r)
	}
	return runes
}

// finerThan lists the names that may follow the given grain.
func finerThan(grain int) string {
	if grain == len(levelNames)-1 {
		return "nothing more, " + levelNames[grain] + " is the finest"
	}
	return strings.Join(levelNames[grain+1:], ", ")
}

// coarserThan lists the names that may come before the given grain, the machine
// aside.
func coarserThan(grain int) string {
	if grain <= 1 {
		return "nothing, for " + levelNames[1] + " is the coarsest"
	}
	return strings.Join(levelNames[1:grain], ", ")
}

// nearestName is the level name that was probably meant, or empty if none is
// near enough to be worth saying.
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

// editDistance counts the letters to insert, delete or exchange to turn a into
// b (Levenshtein), keeping one row of the table.
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
