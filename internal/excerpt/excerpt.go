package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// side is the number of characters that an excerpt shows of the bad part, and on either side of it.
const side = 40

// Of returns word, which begins at offset in text, with its surroundings, and a second line with a
// mark below it. An empty word says that something is missing there: the mark is one character.
func Of(text string, offset int, word string) (line, mark string) {
	before := columns(text[:offset])
	bad := columns(word)
	after := columns(text[offset+len(word):])
	if len(before) > side {
		before = append([]rune("…"), before[len(before)-side:]...)
	}
	if len(bad) > side {
		bad = append(bad[:side], '…')
	}
	if len(after) > side {
		after = append(after[:side], '…')
	}
	mark = strings.Repeat(" ", len(before)) + "^" + strings.Repeat("~", max(len(bad)-1, 0))
	return string(before) + string(bad) + string(after), mark
}

// columns replaces characters that would shift the mark: spaces of any kind become blanks, and
// unprintable characters the replacement character.
func columns(text string) []rune {
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case unicode.IsSpace(r):
			runes[i] = ' '
		case !unicode.IsPrint(r):
			runes[i] = utf8.RuneError
		}
	}
	return runes
}
