package speed

import (
	"math"
	"time"

	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// Bound is the least time of a round that a system can reach.
type Bound struct {
	// Circle is the tasks that set the pace. Each of them waits for the one before it, and the first
	// one waits for the last. A task may stand alone: its rounds follow each other.
	Circle []Turn
	// Time is what the circle takes. It comes back to its first task after so many rounds.
	Time   time.Duration
	Rounds int
	// Work is the time of all tasks of the system in a round.
	Work time.Duration
}

// Turn is a task of a circle.
type Turn struct {
	Task int // in the system
	// Time counts in the circle. It is 0 if the task holds its accesses one after the other and does
	// not stand alone: see [Of].
	Time time.Duration
}

// Most is the greatest time that all tasks may take together: 146 years.
const Most = time.Duration(math.MaxInt64 / 2)

// Of is the bound of a system, if a round of task t takes times[t], its waiting left out. The system
// must have passed [liveness.System.Check]. All times are 0 or more, and together at most [Most].
//
// The bound holds while all tasks of the circle go on. It does not matter how many rounds they have.
//
// A task whose Sequence has more than two steps may spend its time before, between or after them. So
// its time counts in full from the end of one of its rounds to the next, and not in a circle with
// others. The bound is right however the time is divided, and may be lower than what can be reached.
func Of(s liveness.System, times []time.Duration) Bound {
	tasks, numbers := make([]plan.Task, len(s.Tasks)), make([]int64, len(times))
	for t := range tasks {
		tasks[t].Rounds = 1 // the same for all keeps the plan short
	}
	var b Bound
	for t, time := range times {
		numbers[t] = int64(time)
		b.Work += time
	}
	ratio, circle := plan.OfSystem(s, tasks).Period(numbers)
	b.Time, b.Rounds = time.Duration(ratio.Time), int(ratio.Rounds)
	for _, t := range circle {
		turn := Turn{Task: t, Time: times[t]}
		if len(circle) > 1 && len(s.Tasks[t].Sequence) > 2 {
			turn.Time = 0
		}
		b.Circle = append(b.Circle, turn)
	}
	return b
}

// Period is the least mean time of a round with any number of workers, rounded down.
func (b Bound) Period() time.Duration { return b.Time / time.Duration(b.Rounds) }

// WithWorkers is the least mean time of a round that so many workers need for the work alone, rounded
// down. Both bounds hold.
func (b Bound) WithWorkers(n int) time.Duration { return b.Work / time.Duration(n) }
