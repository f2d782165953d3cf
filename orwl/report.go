package orwl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/resource"
)

// Report tells what the tasks held and waited for at one moment of a run.
type Report struct {
	Tasks []TaskReport // tasks that run
	Doors []DoorReport // resources where relaxed or ordered accesses wait for the other kind
	// Still is how long nothing had moved, as far as the runtime watched.
	Still time.Duration
}

// TaskReport is a task in a Report.
type TaskReport struct {
	Name  string
	Round int64
	Holds []string // resources with a grant for the task, acquired or not
	// Waits is the first access that is not granted, or nil if all are and the
	// task works.
	Waits *WaitReport
}

// DoorReport tells of relaxed access to a resource in a Report. The runtime does not
// know which task makes a relaxed access, so the report names the resource only.
type DoorReport struct {
	Resource string
	Knocking int  // relaxed accesses that wait for ordered ones
	Inside   bool // ordered accesses wait for relaxed ones
}

// WaitReport is an access that a task waits for, or is going to.
type WaitReport struct {
	Resource string
	Mode     resource.Mode
	For      time.Duration // at least, as far as the runtime has watched
	// Behind are the tasks that are granted what it waits for. If nothing moves and no
	// task of a run on one node is granted it, a handle outside the tasks is.
	Behind []string
}

// Report looks at the tasks and the relaxed accesses as they are. It stops no task, so
// what moves meanwhile may show in two states. It contains all that tells why nothing
// moves.
func (rt *Runtime) Report() Report {
	v := rt.look()
	if !v.started {
		return Report{}
	}
	r := Report{Still: v.still}
	for _, t := range v.tasks {
		if !t.over {
			r.Tasks = append(r.Tasks, t.report(v.still > 0))
		}
	}
	for _, l := range v.lines {
		if s := l.survey; s.Knocking > 0 || s.OrderedWaits {
			r.Doors = append(r.Doors, DoorReport{l.r.Name(), s.Knocking, s.OrderedWaits})
		}
	}
	return r
}

// report is the task in a Report. stands says that nothing has moved since an earlier look.
func (t *taskView) report(stands bool) TaskReport {
	r := TaskReport{Name: t.name, Round: t.round, Holds: t.holds()}
	if a := t.waits(); a != nil {
		r.Waits = &WaitReport{Resource: a.resource.Name(), Mode: a.mode, For: a.since, Behind: a.line.ahead()}
		if len(r.Waits.Behind) == 0 && stands && a.line.alone && !a.line.survey.Broken {
			r.Waits.Behind = []string{outsider}
		}
	}
	return r
}

// outsider is the one that is granted a resource if no task is. It may be a handle.Pair that
// was dropped after Next. If anything moves, a report may miss the task that is granted, so
// it names the outsider only if nothing does.
const outsider = "a handle of no task"

// manyLines is the most tasks that a report writes out. Beyond that they mostly wait
// for tasks that wait, too, and look alike.
const manyLines = 50

// String is the report as a graph: a line for each task, and for each resource with
// waiting relaxed access. Working tasks come first, since all others wait for them in
// the end.
func (r Report) String() string {
	var b strings.Builder
	tasks := slices.Clone(r.Tasks)
	slices.SortStableFunc(tasks, func(x, y TaskReport) int {
		return boolInt(x.Waits != nil) - boolInt(y.Waits != nil)
	})
	for i, t := range tasks {
		if i == manyLines {
			fmt.Fprintf(&b, "... and %d more tasks\n", len(tasks)-i)
			break
		}
		b.WriteString(t.String() + "\n")
	}
	for _, d := range r.Doors {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

// String is one line.
func (d DoorReport) String() string {
	var waits []string
	if d.Knocking == 1 {
		waits = append(waits, "1 relaxed access waits for ordered ones")
	} else if d.Knocking > 1 {
		waits = append(waits, fmt.Sprintf("%d relaxed accesses wait for ordered ones", d.Knocking))
	}
	if d.Inside {
		waits = append(waits, "ordered accesses wait for relaxed ones, which are inside")
	}
	return fmt.Sprintf("relaxed door of %s: %s", d.Resource, strings.Join(waits, "; "))
}

// String is one line.
func (t TaskReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, round %d", t.Name, t.Round)
	if len(t.Holds) > 0 {
		fmt.Fprintf(&b, ", holds %s", strings.Join(t.Holds, " "))
	}
	w := t.Waits
	if w == nil {
		return b.String() + ", works"
	}
	fmt.Fprintf(&b, ", waits to %s %s", w.Mode, w.Resource)
	if w.For > 0 {
		fmt.Fprintf(&b, " for %v", w.For.Round(time.Millisecond))
	}
	if len(w.Behind) > 0 {
		fmt.Fprintf(&b, " ──▶ %s", strings.Join(w.Behind, " "))
	}
	return b.String()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
