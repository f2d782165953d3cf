package placement

import "errors"

// ErrUnknownTask is matched by the error of a method that was asked about a task
// that the graph does not have.
var ErrUnknownTask = errors.New("unknown task")

// Error is a graph, a list of accesses or an option that no placement
// can be made of.
type Error struct {
	What   string // the thing, as in "edge 3"
	Wrong  string // the fault
	Remedy string // the advice
}

func (e *Error) Error() string {
	return "placement: " + e.What + " " + e.Wrong + ": " + e.Remedy
}
