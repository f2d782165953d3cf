package trace

import (
	"cmp"
	"slices"
	"time"
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
	Wait    float64            `json:"wait"`
	Manage  float64            `json:"manage"` // accesses: to release them, and all else
	Idle    float64            `json:"idle"`   // before its first work and after its last
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
	for i := range t.Tracks {
		k := &t.Tracks[i]
		nodes[k.Node] = true
		s := k.spent(to - from)
		r.Tasks = append(r.Tasks, TaskSpent{k.Task, k.Node, s})
		for name, seconds := range s.Regions {
			r.All.Regions[name] += seconds
		}
		r.All.Wait += s.Wait
		r.All.Manage += s.Manage
		r.All.Idle += s.Idle
		r.NotRecorded += k.Rest.Slices + k.Rest.Turns
	}
	for _, c := range t.Clocks {
		r.Apart = max(r.Apart, c.Error.Seconds())
	}
	r.Nodes = len(nodes)
	r.Names = names(r.All.Regions)
	before := t.before()
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
