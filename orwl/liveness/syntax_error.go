package liveness

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError is a description of a system that Parse could not read. Its
// message shows the line and points at the bad part of it:
//
//	liveness: line 2, column 12: an access begins with what it does
//		task row1: wriet a, read b
//		           ^~~~~
//		allowed: read or write
type SyntaxError struct {
	Line    int    // from 1
	Text    string // of the line
	Offset  int    // where in Text the bad part begins, in bytes
	Word    string // the bad part; empty if something is missing there
	Reason  string
	Allowed string // what could stand there instead
}

// Column is where in the line the bad part begins, in characters, from 1.
func (e *SyntaxError) Column() int { return utf8.RuneCountInString(e.Text[:e.Offset]) + 1 }

func (e *SyntaxError) Error() string {
	line, caret := e.excerpt()
	return fmt.Sprintf("liveness: line %d, column %d: %s\n\t%s\n\t%s\n\tallowed: %s", e.Line, e.Column(), e.Reason, line, caret, e.Allowed)
}

// excerptSide is how many characters are shown on either side of the bad part,
// and of the bad part itself, when the line is long.
const excerptSide = 40

// excerpt returns the surroundings of the bad part and a line that points at it.
func (e *SyntaxError) excerpt() (line, caret string) {
	before := printable(e.Text[:e.Offset])
	bad := printable(e.Word)
	after := printable(e.Text[e.Offset+len(e.Word):])
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

// printable makes every character printable and as wide as a letter, as far as
// that can be known.
func printable(text string) []rune {
	runes := []rune(text)
	for i, c := range runes {
		switch {
		case unicode.IsSpace(c):
			runes[i] = ' '
		case !unicode.IsPrint(c):
			runes[i] = utf8.RuneError
		}
	}
	return runes
}
