package launch

import (
	"fmt"
	"strings"
)

// Progress is how far a node is with something.
type Progress struct {
	What        string // such as sweeping; one line
	Done, Total int64
}

// A line says it: the word, the number of the node, how much is done, of how much, and of what.
const progressWord = "progress "

func (p Progress) line(node int) string {
	return fmt.Sprintf("%s%d %d %d %s", progressWord, node, p.Done, p.Total, strings.ReplaceAll(p.What, "\n", " "))
}

// parseProgress reads such a line. It is false if there is something else in it, or less.
func parseProgress(line string) (node int, p Progress, ok bool) {
	text, found := strings.CutPrefix(line, progressWord)
	if n, err := fmt.Sscanf(text, "%d %d %d", &node, &p.Done, &p.Total); !found || err != nil || n < 3 {
		return 0, Progress{}, false
	}
	fields := strings.SplitN(text, " ", 4)
	if len(fields) < 4 || node < 0 || p.Done < 0 || p.Total < 1 {
		return 0, Progress{}, false
	}
	p.What = fields[3]
	return node, p, true
}
