package topology

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
