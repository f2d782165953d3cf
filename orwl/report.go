package orwl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/resource"
)

// Report is who held what, and who waited for whom, at one moment of a run.
type Report struct {
	Tasks []TaskReport // those that run
	// Still is for how long nothing had moved, as far as the runtime watched.
	Still time.Duration
}

// TaskReport is a task in a Report.
type TaskReport struct {
	Name  string
	Round int64
	Holds []string // resources that it is granted, acquired or not
	// Waits is the first access that is not granted, or nil if all are and the
	// task works.
	Waits *WaitReport
}

// WaitReport is an access that a task waits for, or is going to.
type WaitReport struct {
	Resource string
	Mode     resource.Mode
	For      time.Duration // at least, as far as the runtime watched
	Behind   []string      // tasks that are granted what it waits for
}

// Report looks at the tasks as they are. It stops nobody, so that what moves
// meanwhile may show in two states. It is of those parts of a Snapshot that say why
// nothing moves.
func (rt *Runtime) Report() Report {
	v := rt.look()
	if !v.started {
		return Report{}
	}
	r := Report{Still: v.still}
	for _, t := range v.tasks {
		if !t.over {
			r.Tasks = append(r.Tasks, t.report())
		}
	}
	return r
}

func (t *taskView) report() TaskReport {
	r := TaskReport{Name: t.name, Round: t.round, Holds: t.holds()}
	if a := t.waits(); a != nil {
		r.Waits = &WaitReport{Resource: a.resource.Name(), Mode: a.mode, For: a.since, Behind: a.line.ahead()}
	}
	return r
}

// manyLines is how many tasks a report writes out: of those that wait for tasks
// that wait, the rest looks much the same.
const manyLines = 50

// String is the report as a graph, a line for each task; those that work come
// first, since the others wait for them in the end.
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
	return b.String()
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
