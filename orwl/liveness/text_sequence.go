package liveness

import (
	"fmt"
	"strconv"
)

// sequence reads the rest of a line after its second colon: the steps of a task with so
// many accesses.
func (l *systemLine) sequence(accesses int) (steps []Step, err error) {
	p := make(progress, accesses)
	for {
		step, word, err := l.step(p)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
		if word == "," {
			continue
		}
		if a, reason := p.end(); a >= 0 {
			return nil, l.fail(word, fmt.Sprintf("access %d %s", a+1, reason), onceEach)
		}
		return steps, nil
	}
}

// step reads a step and the word after it: a comma, or nothing at the end of the line.
func (l *systemLine) step(p progress) (step Step, word string, err error) {
	switch word = l.next(); word {
	case "acquire":
	case "release":
		step.Op = Release
	default:
		return step, word, l.fail(word, "a step begins with what it does", "acquire or release")
	}
	for word = l.next(); word != "" && word != ","; word = l.next() {
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 || number > len(p) {
			return step, word, l.fail(word, "the task has no such access", fmt.Sprintf("a number from 1 to %d, a comma and another step, or the end of the line", len(p)))
		}
		if reason := p.take(step.Op, number-1); reason != "" {
			return step, word, l.fail(word, "access "+word+" "+reason, onceEach)
		}
		step.Accesses = append(step.Accesses, number-1)
	}
	if len(step.Accesses) == 0 {
		return step, word, l.fail(word, "the step names no access", fmt.Sprintf("numbers from 1 to %d", len(p)))
	}
	return step, word, nil
}
