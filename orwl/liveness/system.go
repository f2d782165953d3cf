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

// Step is one step of a task's round. The task acquires some of its accesses, or it
// releases them.
type Step struct {
	Op       Op
	Accesses []int // counted from 0 within the task; their order makes no difference
}

// Op is what a task does in a Step.
type Op uint8

const (
	// Acquire waits for the grant of the access.
	Acquire Op = iota
	// Release requests the access for the next round, and then releases it.
	Release
)

func (o Op) String() string {
	switch o {
	case Acquire:
		return "acquire"
	case Release:
		return "release"
	}
	return fmt.Sprintf("op %d", uint8(o))
}

// steps are the steps of a round of each task. A task without a Sequence has two: it
// acquires all, and releases all.
func (s System) steps() [][]Step {
	most := 0
	for _, task := range s.Tasks {
		most = max(most, len(task.Accesses))
	}
	all := make([]int, most) // tasks have it in common
	for a := range all {
		all[a] = a
	}
	two := make([]Step, 0, 2*len(s.Tasks))
	steps := make([][]Step, len(s.Tasks))
	for t, task := range s.Tasks {
		if n := len(task.Accesses); len(task.Sequence) > 0 || n == 0 {
			steps[t] = task.Sequence
		} else {
			two = append(two, Step{Acquire, all[:n]}, Step{Release, all[:n]})
			steps[t] = two[len(two)-2:]
		}
	}
	return steps
}

// step is the number of the step that does op with an access, or -1 if the task has no
// Sequence.
func (t Task) step(op Op, access int) int {
	for i, step := range t.Sequence {
		for _, a := range step.Accesses {
			if step.Op == op && a == access {
				return i
			}
		}
	}
	return -1
}

// progress is how far each access of a task has come in a round: a Sequence acquires
// each access once, and then releases it once.
type progress []phase

type phase uint8

const (
	idle phase = iota
	held
	over
)

// take does one part of a step. It returns the reason if this breaks the rule.
func (p progress) take(op Op, access int) (reason string) {
	switch {
	case op == Acquire && p[access] == idle:
		p[access] = held
	case op == Release && p[access] == held:
		p[access] = over
	case op == Acquire:
		return "is acquired twice"
	case p[access] == over:
		return "is released twice"
	default:
		return "is released before it is acquired"
	}
	return ""
}

// end ends the round. It returns the first access that breaks the rule, and the reason.
func (p progress) end() (access int, reason string) {
	for a, phase := range p {
		switch phase {
		case idle:
			return a, "is not acquired"
		case held:
			return a, "is not released"
		}
	}
	return -1, ""
}

// onceEach is what a message tells about a Sequence that breaks the rule.
const onceEach = "acquire each access once, and then release it once"

// validateSequence returns a *SystemError if the Sequence of task t breaks the rule.
func (s System) validateSequence(t int) error {
	task := s.Tasks[t]
	if len(task.Sequence) == 0 {
		return nil
	}
	p := make(progress, len(task.Accesses))
	for i, step := range task.Sequence {
		if step.Op > Release {
			return &SystemError{t, -1, task.Name, fmt.Sprintf("has the %v in step %d: want Acquire or Release", step.Op, i+1)}
		}
		if len(step.Accesses) == 0 {
			return &SystemError{t, -1, task.Name, fmt.Sprintf("has no access in step %d: name one, or leave the step out", i+1)}
		}
		for _, a := range step.Accesses {
			if a < 0 || a >= len(task.Accesses) {
				return &SystemError{t, -1, task.Name, fmt.Sprintf("has no access %d, as step %d wants: it has %d", a+1, i+1, len(task.Accesses))}
			}
			if reason := p.take(step.Op, a); reason != "" {
				return &SystemError{t, a, task.Name, fmt.Sprintf("(%v) %s, in step %d: %s", task.Accesses[a], reason, i+1, onceEach)}
			}
		}
	}
	if a, reason := p.end(); a >= 0 {
		return &SystemError{t, a, task.Name, fmt.Sprintf("(%v) %s in its sequence: %s", task.Accesses[a], reason, onceEach)}
	}
	return nil
}

// String is the access without its priority.
func (a Access) String() string { return a.Mode.String() + " " + spell(a.Resource) }
