package picture

import (
	"strings"
	"testing"
)

// Text has two rows of cells in a line, magnified if there is room, and smaller if there is none.
func TestText(t *testing.T) {
	p := Panel{Rows: 4, Cols: 3, Values: Cells([]int{0, 9, 0, 0, 9, 0, 9, 9, 9, 0, 0, 0}, 3)}
	for _, c := range []struct {
		cols, lines int
		want        string
	}{
		{3, 2, " @ \n+++\n"},
		{6, 4, "  @@  \n  @@  \n@@@@@@\n      \n"}, // twice as large
		{3, 1, "+\n"},                              // smaller: one character, of the two halves
	} {
		if got := p.Text(c.cols, c.lines, false); got != c.want {
			t.Errorf("%d columns, %d lines:\n%swant\n%s", c.cols, c.lines, got, c.want)
		}
	}
	coloured := p.Text(3, 2, true)
	if lines := strings.Split(coloured, "\n"); len(lines) != 3 || strings.Count(coloured, "▀") != 6 || !strings.HasSuffix(lines[0], "▀\x1b[0m") {
		t.Errorf("in colours: %q", coloured)
	}
	if !strings.Contains(coloured, "\x1b[38;2;68;1;84m") || !strings.Contains(coloured, "\x1b[38;2;253;231;37m") {
		t.Errorf("the ends of the palette are not in %q", coloured)
	}
	p.Most = 5
	if got := p.Text(3, 2, false); got != " ? \n???\n" {
		t.Errorf("values beyond the legend: %q", got)
	}
}
