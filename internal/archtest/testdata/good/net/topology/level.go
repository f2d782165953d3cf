package topology

import (
	"errors"
	"time"
)

// ErrLevel is an error, not state.
var ErrLevel = errors.New("topology: no such level")

var _ error = (*levelError)(nil)

// names is a table: written here, and nowhere else.
var names = map[string]int{"node": 1, "core": 2}

// Level is a level of the tree.
type Level int

type levelError struct{}

func (*levelError) Error() string { return "no such level" }

// Lease takes a duration from the caller: time as a value is no clock.
func (l Level) Lease(d time.Duration) time.Duration {
	names := make([]int, 1) // shadows the table
	names[0] = int(l)
	return d * time.Duration(names[0])
}
