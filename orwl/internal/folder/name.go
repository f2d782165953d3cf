package folder

import (
	"fmt"

	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// name is the name of the file of a part.
type name struct {
	lives.Key
	owner int
}

const nameFormat = "life-%06d-run-%03d-round-%08d-node-%d"

func (n name) String() string {
	return fmt.Sprintf(nameFormat+cutEnding, n.Life, n.Run, n.Round, n.owner)
}

// The endings of the files.
const (
	cutEnding  = ".cut"
	lockEnding = ".lock"
	partEnding = ".part"
)

// parseName reports whether a file is named as a part.
func parseName(text string) (n name, is bool) {
	_, _ = fmt.Sscanf(text, "life-%d-run-%d-round-%d-node-%d", &n.Life, &n.Run, &n.Round, &n.owner) // if it fails, n has another name
	return n, n.owner >= 0 && n.String() == text
}

// nameOf is the name of the part that a node has.
func nameOf(h lives.Held) name { return name{h.Key, h.Owner} }

// process is the name of a file that a process has for itself.
func process(node int, ending string) string { return fmt.Sprintf("node-%d%s", node, ending) }

// isTemporary reports whether a file is what some process was writing.
func isTemporary(text string) bool {
	node := 0
	_, _ = fmt.Sscanf(text, "node-%d", &node) // if it fails, process has another name
	return process(node, partEnding) == text
}
