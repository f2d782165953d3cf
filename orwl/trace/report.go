package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Report is where the time of a trace went.
type Report struct {
	Seconds float64 `json:"seconds"` // the time that the run took
	Nodes   int     `json:"nodes"`
	// Names are the names of the regions: compute, and then the one with the most time first.
	Names []string    `json:"regions"`
	All   Spent       `json:"all"` // the sum of the tasks
	Tasks []TaskSpent `json:"tasks"`
	Waits []LongWait  `json:"longest_waits"`
	Path  Path        `json:"critical_path"`
	// NotRecorded is how many turns and slices there was no room for. All and Tasks include their
	// sums. They are not in Waits, nor in Path.
	NotRecorded int `json:"not_recorded"`
	// Apart is by how many seconds times of different nodes may be wrong.
	Apart float64 `json:"clock_error_seconds"`
}

// Spent is what time went to, in seconds.
type Spent struct {
	Regions map[string]float64 `json:"regions"` // compute, and what the program has named
	// Wait is all waiting. Turn, Data and Queued are its parts, by cause. Of waits that were not recorded one by one no cause is known.
	Wait   float64 `json:"wait"`
	Turn   float64 `json:"for_turn"`
	Data   float64 `json:"for_data"`
	Queued float64 `json:"queued"` // it was ready, and no worker was free
	Manage float64 `json:"manage"` // accesses: to release them, and all else
	Idle   float64 `json:"idle"`   // before its first work and after its last
}

// TaskSpent is what the time of a task went to.
type TaskSpent struct {
	Task string `json:"task"`
	Node int    `json:"node"`
	Spent
}

// LongWait is a wait.
type LongWait struct {
	Task     string  `json:"task"`
	Node     int     `json:"node"`
	Mode     string  `json:"mode"`
	Resource string  `json:"resource"`
	At       float64 `json:"at_seconds"` // since the run began
	Seconds  float64 `json:"seconds"`
	// Behind is the task that released what it waited for, "" if that was not recorded.
	Behind     string `json:"behind,omitempty"`
	BehindNode int    `json:"behind_node,omitempty"`
}

// ReportOptions say how much a report tells. The zero value will do.
type ReportOptions struct {
	// Waits is how many of the longest waits there are at most: 10 by default, none if
	// negative.
	Waits int
}

const defaultWaits = 10

func (o ReportOptions) withDefaults() ReportOptions {
	if o.Waits == 0 {
		o.Waits = defaultWaits
	}
	return o
}

// Report tells where the time went.
func (t *Trace) Report(o ReportOptions) Report {
	o = o.withDefaults()
	from, to := t.From, t.To
	r := Report{Seconds: (to - from).Seconds(), All: Spent{Regions: make(map[string]float64)}, Tasks: []TaskSpent{}}
	nodes := make(map[int]bool)
	before := t.before()
	for i := range t.Tracks {
		k := &t.Tracks[i]
		nodes[k.Node] = true
		s := k.spent(to - from)
		for _, w := range t.stretches(before, i) {
			*map[Cause]*float64{ForTurn: &s.Turn, ForData: &s.Data, Queued: &s.Queued}[w.cause] += (w.to - w.from).Seconds()
		}
		r.Tasks = append(r.Tasks, TaskSpent{k.Task, k.Node, s})
		for name, seconds := range s.Regions {
			r.All.Regions[name] += seconds
		}
		r.All.Wait += s.Wait
		r.All.Turn += s.Turn
		r.All.Data += s.Data
		r.All.Queued += s.Queued
		r.All.Manage += s.Manage
		r.All.Idle += s.Idle
		r.NotRecorded += k.Rest.Slices + k.Rest.Turns
	}
	for _, c := range t.Clocks {
		r.Apart = max(r.Apart, c.Error.Seconds())
	}
	r.Nodes = len(nodes)
	r.Names = names(r.All.Regions)
	r.Waits = t.longest(o.Waits, from, before)
	r.Path = t.walkBack(before).path()
	return r
}

// spent is where the time of a task went, of a run that took so long.
func (k *Track) spent(run time.Duration) Spent {
	s := Spent{Regions: make(map[string]float64)}
	idle := run - k.Handling
	manage := k.Handling
	for name, sum := range k.Sums() {
		idle -= sum
		switch name {
		case Wait:
			s.Wait = sum.Seconds()
		case Release:
			manage += sum
		default:
			s.Regions[name] = sum.Seconds()
		}
	}
	s.Manage, s.Idle = manage.Seconds(), max(0, idle).Seconds()
	return s
}

// running is for how long bodies ran.
func (s Spent) running() (sum float64) {
	for _, seconds := range s.Regions {
		sum += seconds
	}
	return sum
}

// unknown is how long the waits were of which no cause is known.
func (s Spent) unknown() float64 { return max(0, s.Wait-s.Turn-s.Data-s.Queued) }

// names are the names of regions in the order of the report.
func names(sums map[string]float64) []string {
	all := []string{}
	for name := range sums {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int {
		if first := cmp.Compare(b2i(a != Compute), b2i(b != Compute)); first != 0 {
			return first
		}
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	return all
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// before is from which turn each turn has its resource.
func (t *Trace) before() map[Spot]Spot {
	before := make(map[Spot]Spot)
	for _, h := range t.Handovers() {
		before[h.To] = h.From
	}
	return before
}

// longest are the longest waits.
func (t *Trace) longest(most int, from time.Duration, before map[Spot]Spot) []LongWait {
	type wait struct {
		at    Spot
		from  time.Duration
		lasts time.Duration
	}
	var all []wait
	for i := range t.Tracks {
		for j := range t.Tracks[i].Turns {
			if from, to, waited := t.Tracks[i].Turns[j].Waited(); waited {
				all = append(all, wait{Spot{i, j}, from, to - from})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b wait) int { return cmp.Or(cmp.Compare(b.lasts, a.lasts), cmp.Compare(a.from, b.from)) })
	longest := []LongWait{}
	for _, w := range all[:min(len(all), max(0, most))] {
		k, a := &t.Tracks[w.at.Track], t.access(w.at)
		l := LongWait{Task: k.Task, Node: k.Node, Mode: a.mode(), Resource: a.Resource, At: (w.from - from).Seconds(), Seconds: w.lasts.Seconds()}
		if b, known := before[w.at]; known {
			l.Behind, l.BehindNode = t.Tracks[b.Track].Task, t.Tracks[b.Track].Node
		}
		longest = append(longest, l)
	}
	return longest
}

func (a Access) mode() string {
	if a.Write {
		return "write"
	}
	return "read"
}

// How much the text of a report shows. All of it is in the JSON.
const (
	mostTasks   = 24 // tasks that have a line each
	mostRegions = 4  // regions that have a column each
	mostParts   = 10 // parts of the critical path
)

// String is the report for a terminal.
func (r Report) String() string {
	var b strings.Builder
	tasks, nodes := plural(len(r.Tasks), "task"), plural(r.Nodes, "node")
	fmt.Fprintf(&b, "%s on %s, in %s", tasks, nodes, duration(r.Seconds))
	if r.Nodes > 1 && r.Apart > 0 {
		fmt.Fprintf(&b, "; the nodes' clocks are up to %s apart", duration(r.Apart))
	}
	b.WriteString("\n")
	if ran := r.All.running(); ran > 0 && r.Seconds > 0 {
		fmt.Fprintf(&b, "On average %.1f bodies ran at a time: so many processors were busy.\n", ran/r.Seconds)
	}
	if r.NotRecorded > 0 {
		fmt.Fprintf(&b, "The trace was full: of %d later slices and turns only the sums are known.\n", r.NotRecorded)
	}
	b.WriteString("\n")
	r.table(&b)
	r.waits(&b)
	r.path(&b)
	return b.String()
}

// table is where the time of each task went.
func (r Report) table(b *strings.Builder) {
	width := len("of all tasks")
	rows := r.Tasks
	if len(rows) > mostTasks {
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(x, y TaskSpent) int {
			if x.Wait > y.Wait {
				return -1
			}
			return b2i(x.Wait < y.Wait)
		})
		rows = rows[:mostTasks]
		fmt.Fprintf(b, "The %d tasks that waited longest:\n", mostTasks)
	}
	for _, t := range rows {
		width = max(width, utf8.RuneCountInString(t.label(r.Nodes)))
	}
	shown := r.Names[:min(len(r.Names), mostRegions)]
	cell := func(text string) { fmt.Fprintf(b, " %10s", text) }
	b.WriteString(pad("", width))
	for _, name := range shown {
		cell(cut(name, 10))
	}
	if len(shown) < len(r.Names) {
		cell("others")
	}
	waits := []string{"for a turn", "for data", "queued"}
	unknown := r.NotRecorded > 0 && r.All.unknown() > 0
	if unknown {
		waits = append(waits, "other wait")
	}
	for _, name := range append(waits, "manage", "idle") {
		cell(name)
	}
	b.WriteString("\n")
	line := func(label string, s Spent, whole float64) {
		b.WriteString(pad(label, width))
		share := func(seconds float64) {
			if whole == 0 {
				cell("-")
				return
			}
			cell(fmt.Sprintf("%.1f %%", 100*seconds/whole))
		}
		others := 0.0
		for i, name := range r.Names {
			if i < len(shown) {
				share(s.Regions[name])
			} else {
				others += s.Regions[name]
			}
		}
		if len(shown) < len(r.Names) {
			share(others)
		}
		share(s.Turn)
		share(s.Data)
		share(s.Queued)
		if unknown {
			share(s.unknown())
		}
		share(s.Manage)
		share(s.Idle)
		b.WriteString("\n")
	}
	for _, t := range rows {
		line(t.label(r.Nodes), t.Spent, r.Seconds)
	}
	line("of all tasks", r.All, r.Seconds*float64(len(r.Tasks)))
}

// label is the task's name, with its node where there are several.
func (t TaskSpent) label(nodes int) string {
	if nodes > 1 {
		return fmt.Sprintf("%s (node %d)", t.Task, t.Node)
	}
	return t.Task
}

// waits are the longest waits.
func (r Report) waits(b *strings.Builder) {
	if len(r.Waits) == 0 {
		return
	}
	b.WriteString("\nlongest waits\n")
	for _, w := range r.Waits {
		fmt.Fprintf(b, "%12s  %s, to %s %s, from %s on", duration(w.Seconds), w.Task, w.Mode, w.Resource, duration(w.At))
		switch {
		case w.Behind == "":
		case w.BehindNode != w.Node:
			fmt.Fprintf(b, ", behind %s (node %d)", w.Behind, w.BehindNode)
		default:
			fmt.Fprintf(b, ", behind %s", w.Behind)
		}
		b.WriteString("\n")
	}
}

// path is the critical path.
func (r Report) path(b *strings.Builder) {
	p := r.Path
	if p.Seconds == 0 {
		return
	}
	sums := make(map[string]float64)
	for _, part := range p.Parts {
		sums[part.What] += part.Seconds
	}
	fmt.Fprintf(b, "\ncritical path: %s, from task to task %s; work %.1f %%, hand-overs %.1f %%", duration(p.Seconds),
		plural(p.Steps, "time"), 100*sums[pathWork]/p.Seconds, 100*sums[pathHandover]/p.Seconds)
	if sums[pathWait] > 0 {
		fmt.Fprintf(b, ", waits %.1f %%", 100*sums[pathWait]/p.Seconds)
	}
	b.WriteString("\n")
	for i, part := range p.Parts {
		if i == mostParts {
			rest := 0.0
			for _, part := range p.Parts[i:] {
				rest += part.Seconds
			}
			fmt.Fprintf(b, "%12s  %5.1f %%  in %d more\n", duration(rest), 100*rest/p.Seconds, len(p.Parts)-i)
			break
		}
		of := map[string]string{pathWork: "work of ", pathHandover: "hand-over of ", pathWait: "wait of "}[part.What] + part.Of
		fmt.Fprintf(b, "%12s  %5.1f %%  %s", duration(part.Seconds), 100*part.Seconds/p.Seconds, of)
		switch {
		case r.Nodes == 1:
		case part.What == pathHandover:
			fmt.Fprintf(b, " to node %d", part.Node)
		default:
			fmt.Fprintf(b, " (node %d)", part.Node)
		}
		fmt.Fprintf(b, ", %s\n", plural(part.Times, "time"))
	}
}

// duration is a time in a unit that suits it, to four digits.
func duration(seconds float64) string {
	d := time.Duration(seconds * 1e9)
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 10000*unit || unit > time.Hour {
			return d.Round(unit).String()
		}
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// cut is what of a name there is room for.
func cut(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
