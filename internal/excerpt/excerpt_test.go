package excerpt

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	repeat := strings.Repeat
	for _, c := range []struct{ before, word, after, line, mark string }{
		{"rack:2 ", "noed", ":4", "rack:2 noed:4", "       ^~~~"},
		{"", "", "", "", "^"},
		{"read b @", "", "", "read b @", "        ^"},
		{"\t\u2028", "ä\x01", "\n\xff", "  ä� �", "  ^~"},
		{repeat("a", 40), repeat("b", 40), repeat("c", 40), repeat("a", 40) + repeat("b", 40) + repeat("c", 40), repeat(" ", 40) + "^" + repeat("~", 39)},
		{"x" + repeat("ä", 40), repeat("b", 40) + "x", repeat("c", 40) + "x", "…" + repeat("ä", 40) + repeat("b", 40) + "…" + repeat("c", 40) + "…", repeat(" ", 41) + "^" + repeat("~", 40)},
	} {
		line, mark := Of(c.before+c.word+c.after, len(c.before), c.word)
		if line != c.line || mark != c.mark {
			t.Errorf("%q at %d of %q:\n%s|\n%s|\nwant\n%s|\n%s|", c.word, len(c.before), c.before+c.word+c.after, line, mark, c.line, c.mark)
		}
	}
}
