package sim

import (
	"errors"
	"fmt"
)

// The ways in which a run breaks its promise beside a rank's own error.
var (
	// ErrDeadlock is a run in which nobody can move.
	ErrDeadlock = errors.New("sim: nobody can move")
	// ErrEndless is a run that took more than System.MaxSteps.
	ErrEndless = errors.New("sim: no end in sight")
)

// violated is the first rank's broken promise, or nil.
func (x *explorer) violated() error {
	for _, r := range x.ranks {
		if err := r.violation(); err != nil {
			return err
		}
	}
	return nil
}

// conclude judges a run in which nothing can happen any more.
func (x *explorer) conclude() error {
	for _, r := range x.ranks {
		if r.phase == blocked {
			return fmt.Errorf("%w: %s", ErrDeadlock, x.whoWaits())
		}
	}
	if x.program.Check != nil && len(x.lost) == 0 {
		return x.program.Check()
	}
	return nil
}

// whoWaits tells what each blocked rank is blocked in.
func (x *explorer) whoWaits() string {
	text := ""
	for _, r := range x.ranks {
		if r.phase == blocked {
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("rank %d in %s", r.id, x.describe(&r.request))
		}
	}
	return text
}

func (x *explorer) describe(q *request) string {
	switch q.kind {
	case opAwait:
		return fmt.Sprintf("Await(rank %d %s %s), which is %s", q.target, x.labels.name(q.disp), q.until,
			word(x.memory.load(q.target, q.disp)))
	case opFlush:
		return fmt.Sprintf("Flush(rank %d)", q.target)
	case opFlushAll, opPause:
		return q.kind.String()
	}
	return fmt.Sprintf("%s(rank %d %s)", q.kind, q.target, x.labels.name(q.disp))
}
