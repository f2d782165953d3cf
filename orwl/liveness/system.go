package liveness

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/orwl/go-orwl/resource"
)

// System is a program as far as its liveness goes: the accesses of each task, and the
// order of the first requests. Each task is a loop of rounds. In a round it acquires
// each of its accesses and renews it: all at once, or in the order of its Sequence.
type System struct {
	Tasks []Task
}

// Task is a task of a System.
type Task struct {
	Name     string // no two tasks have the same
	Accesses []Access
	// Sequence is the steps of a round. It acquires each access once, and then releases
	// it once. Without a Sequence the task acquires all, and then releases all.
	Sequence []Step
}

// Access is one access of a task to a resource in each round. It has a handle of its
// own.
type Access struct {
	Resource string
	Mode     resource.Mode
	// Priority orders the first request among all others: lower is earlier.
	Priority int
}

// First names a first request by its task and access, both counted from 0.
type First struct {
	Task, Access int
}

// Order is the canonical start order: by priority, then by task, then by the position in
// the task. All nodes insert the first requests in this order before any task runs.
func (s System) Order() []First {
	order := make([]First, 0, s.accesses())
	sorted, last := true, math.MinInt
	for t, task := range s.Tasks {
		for a, access := range task.Accesses {
			sorted = sorted && access.Priority >= last
			last = access.Priority
			order = append(order, First{Task: t, Access: a})
		}
	}
	if !sorted {
		slices.SortFunc(order, func(x, y First) int {
			return cmp.Or(
				cmp.Compare(s.access(x).Priority, s.access(y).Priority),
				cmp.Compare(x.Task, y.Task),
				cmp.Compare(x.Access, y.Access))
		})
	}
	return order
}

func (s System) access(f First) Access { return s.Tasks[f.Task].Accesses[f.Access] }

// accesses is the number of accesses of all tasks.
func (s System) accesses() int {
	n := 0
	for _, task := range s.Tasks {
		n += len(task.Accesses)
	}
	return n
}

// SystemError tells what is wrong with a System.
type SystemError struct {
	Task   int
	Access int // of the task, or -1 if the task itself is wrong
	Name   string
	Reason string
}

func (e *SystemError) Error() string {
	what := fmt.Sprintf("task %d (%q)", e.Task, e.Name)
	if e.Access >= 0 {
		what = fmt.Sprintf("access %d of %s", e.Access+1, what)
	}
	return fmt.Sprintf("liveness: %s %s", what, e.Reason)
}

// validate returns a *SystemError if s is not well formed.
func (s System) validate() error {
	named := make(map[string]int, len(s.Tasks))
	if err := s.validateSize(); err != nil {
		return err
	}
	for t, task := range s.Tasks {
		if task.Name == "" {
			return &SystemError{t, -1, task.Name, "has no name: give it one"}
		}
		if first, twice := named[task.Name]; twice {
			return &SystemError{t, -1, task.Name, fmt.Sprintf("has the name of task %d: give it another one", first)}
		}
		named[task.Name] = t
		for a, access := range task.Accesses {
			if access.Resource == "" {
				return &SystemError{t, a, task.Name, "names no resource: name one"}
			}
			if access.Mode > resource.Write {
				return &SystemError{t, a, task.Name, fmt.Sprintf("has the mode %d: want Read or Write", uint8(access.Mode))}
			}
		}
		if err := s.validateSequence(t); err != nil {
			return err
		}
	}
	return nil
}

// mostAccesses is the greatest number of accesses of a system: Check numbers two requests of
// each by 32 bits.
const mostAccesses = 1<<30 - 1

// validateSize returns a *SystemError if s has too many accesses.
func (s System) validateSize() error {
	n := 0
	for t, task := range s.Tasks {
		if n += len(task.Accesses); n > mostAccesses {
			return &SystemError{t, -1, task.Name, fmt.Sprintf("brings the accesses of all tasks to %d: want at most %d", n, mostAccesses)}
		}
	}
	return nil
}
