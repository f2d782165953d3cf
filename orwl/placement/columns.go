package placement

import (
	"io"
	"strings"
	"unicode/utf8"
)

// columns is a table for reading. Columns are as wide as they have to be; those
// that begin with > in the first row are numbers and stand to the right.
type columns [][]string

func (c *columns) row(cells ...string) { *c = append(*c, cells) }

// writeTo writes all rows, each after the given indent.
func (c columns) writeTo(w io.Writer, indent string) error {
	head := c[0]
	right := make([]bool, len(head))
	width := make([]int, len(head))
	for i := range head {
		head[i], right[i] = strings.CutPrefix(head[i], ">")
	}
	for _, row := range c {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range c {
		var line strings.Builder
		line.WriteString(indent)
		for i, cell := range row {
			space := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if right[i] {
				line.WriteString(space + cell)
			} else {
				line.WriteString(cell + space)
			}
		}
		if _, err := io.WriteString(w, strings.TrimRight(line.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// someOf joins the first n names and counts the rest.
func someOf(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, " ")
	}
	return strings.Join(names[:n], " ") + " and " + number(len(names)-n) + " more"
}
