package liveness

import "fmt"

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
