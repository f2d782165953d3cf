package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// manyLines is the most tasks that the text of a State writes out. Beyond that they mostly wait
// for tasks that wait, too, and look alike.
const manyLines = 50

// Runs reports whether the task has begun and not ended.
func (t TaskState) Runs() bool {
	return t.State == TaskWorking || t.State == TaskWaiting || t.State == TaskQueued
}

// String tells which task waits for which: Why, a line for each task that runs, and for each resource
// where relaxed or ordered accesses wait for the other kind. Working tasks come first, since
// all others wait for them in the end.
func (s State) String() string {
	var b strings.Builder
	if s.Why != "" {
		b.WriteString(s.Why + "\n")
	}
	tasks := slices.DeleteFunc(slices.Clone(s.Tasks), func(t TaskState) bool { return !t.Runs() })
	slices.SortStableFunc(tasks, func(x, y TaskState) int {
		return cmp.Compare(x.order(), y.order())
	})
	for i, t := range tasks {
		if i == manyLines {
			fmt.Fprintf(&b, "... and %d more tasks\n", len(tasks)-i)
			break
		}
		b.WriteString(t.String() + "\n")
	}
	for _, r := range s.Resources {
		if r.RelaxedWaits > 0 || r.OrderedWaits {
			b.WriteString(r.relaxed() + "\n")
		}
	}
	if s.Pace != nil {
		b.WriteString(s.Pace.String() + "\n")
	}
	return b.String()
}

// String is one line.
func (p *Pace) String() string {
	circle := p.Circle
	more := ""
	if len(circle) > manyLines {
		more = fmt.Sprintf(" and %d more", len(circle)-manyLines)
		circle = circle[:manyLines]
	}
	workers := "1 worker"
	if p.Workers != 1 {
		workers = fmt.Sprint(p.Workers, " workers")
	}
	return fmt.Sprintf("a round takes %v, at least %v by %s%s, and at least %v by %s",
		brief(p.Round), brief(p.Bound), strings.Join(circle, " ──▶ "), more, brief(p.Work), workers)
}

// brief is a time to three digits.
func brief(s Seconds) time.Duration {
	unit := time.Duration(1)
	for s.Duration/unit >= 1000 {
		unit *= 10
	}
	return s.Round(unit)
}

// relaxed is the line of a resource where accesses wait for the other kind.
func (r ResourceState) relaxed() string {
	var waits []string
	if r.RelaxedWaits == 1 {
		waits = append(waits, "1 relaxed access waits for ordered ones")
	} else if r.RelaxedWaits > 1 {
		waits = append(waits, fmt.Sprintf("%d relaxed accesses wait for ordered ones", r.RelaxedWaits))
	}
	if r.OrderedWaits {
		waits = append(waits, "ordered accesses wait for relaxed ones, which are inside")
	}
	return fmt.Sprintf("relaxed door of %s: %s", r.Resource, strings.Join(waits, "; "))
}

// String is one line.
func (t TaskState) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, round %d", t.Task, t.Round)
	if len(t.Holds) > 0 {
		fmt.Fprintf(&b, ", holds %s", strings.Join(t.Holds, " "))
	}
	w := t.Waits
	switch {
	case t.State == TaskQueued:
		return b.String() + ", waits for a worker"
	case w == nil:
		return b.String() + ", works"
	}
	fmt.Fprintf(&b, ", waits to %s %s", w.Mode, w.Resource)
	if w.For.Duration > 0 {
		fmt.Fprintf(&b, " for %v", w.For.Round(time.Millisecond))
	}
	if len(w.Behind) > 0 {
		fmt.Fprintf(&b, " ──▶ %s", strings.Join(w.Behind, " "))
	}
	return b.String()
}

// order puts tasks that work before those that wait for a worker, and these before those that wait for an access.
func (t TaskState) order() int {
	switch {
	case t.Waits != nil:
		return 2
	case t.State == TaskQueued:
		return 1
	}
	return 0
}
