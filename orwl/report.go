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
// meanwhile may show in two states.
func (rt *Runtime) Report() Report { return rt.report(nil) }

// report says how long waits have lasted, by when they were first seen.
func (rt *Runtime) report(since func(a *Access, stamp uint64) time.Duration) Report {
	rt.mu.Lock()
	tasks, running := rt.tasks, rt.run != nil
	rt.mu.Unlock()
	if !running {
		return Report{}
	}
	granted := make(map[*resource.Resource][]*Task)
	for _, t := range tasks {
		if !t.here() {
			continue
		}
		for _, a := range t.accesses {
			if a.Place().Look(a.resource).Granted {
				granted[a.resource] = append(granted[a.resource], t)
			}
		}
	}
	var report Report
	for _, t := range tasks {
		if t.ended.Load() || !t.here() {
			continue
		}
		tr := TaskReport{Name: t.name, Round: t.round.Load()}
		for _, a := range t.accesses {
			l := a.Place().Look(a.resource)
			if l.Granted {
				tr.Holds = append(tr.Holds, a.resource.Name())
			}
			if l.Requested && !l.Granted && tr.Waits == nil {
				w := &WaitReport{Resource: a.resource.Name(), Mode: a.mode}
				if since != nil {
					w.For = since(a, l.Stamp)
				}
				for _, ahead := range granted[a.resource] {
					w.Behind = append(w.Behind, ahead.name)
				}
				tr.Waits = w
			}
		}
		report.Tasks = append(report.Tasks, tr)
	}
	return report
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
