package liveness

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError tells why Parse cannot read a description of a system. The message shows
// the line and points at the bad part:
//
//	liveness: line 2, column 12: an access begins with what it does
//		task row1: wriet a, read b
//		           ^~~~~
//		allowed: read or write
type SyntaxError struct {
	Line    int    // counted from 1
	Text    string // the whole line
	Offset  int    // where in Text the bad part begins, in bytes
	Word    string // the bad part; empty if something is missing
	Reason  string
	Allowed string // the text that Parse accepts there
}

// Column is the position of the bad part in the line, in characters, counted from 1.
func (e *SyntaxError) Column() int { return utf8.RuneCountInString(e.Text[:e.Offset]) + 1 }

func (e *SyntaxError) Error() string {
	line, caret := e.excerpt()
	return fmt.Sprintf("liveness: line %d, column %d: %s\n\t%s\n\t%s\n\tallowed: %s", e.Line, e.Column(), e.Reason, line, caret, e.Allowed)
}

// excerptSide is the number of characters that a message shows of the bad part, and on
// either side of it, if the line is long.
const excerptSide = 40

// excerpt returns the bad part with its surroundings, and a line that points at it.
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

// printable replaces each character that is not printable, so that the caret of the
// next line stands below the bad part.
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
