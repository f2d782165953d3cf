package sim

import (
	"errors"
	"fmt"
)

// The ways in which a run breaks its promise, in addition to a rank's own error.
var (
	// ErrDeadlock is a run in which some ranks wait and none can go on.
	ErrDeadlock = errors.New("sim: no rank can go on")
	// ErrEndless is a run of more than System.MaxSteps steps, or one in which ranks
	// only pause and look again.
	ErrEndless = errors.New("sim: the run does not end")
)

// violated is the first broken promise of a rank, or nil.
func (x *explorer) violated() error {
	for _, r := range x.ranks {
		if err := r.violation(); err != nil {
			return err
		}
	}
	return nil
}

// conclude judges a run in which nothing more can happen.
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

// whoWaits says in which operation each blocked rank waits.
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
