package trace

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"container/heap"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The page of a trace is one file with everything in it. Its data are two parts:
//
//	facts    JSON: names, lanes, and what the report says
//	events   columns of numbers, compressed: when, how long, what, of which task, on which resource, behind which task
//
// Each task has a lane. A node also has lanes for its workers. A trace does not say which worker ran a body, so those are
// packed: bodies that overlap are in different lanes, and a task goes on in its lane.

//go:embed page.html page.js
var pageSources embed.FS

// mostWhats is how many kinds of events a page tells apart: the causes, releases, and regions.
const mostWhats = 12

// onPath marks an event of the critical path.
const onPath = 0x80

// facts is what the page has as JSON.
type facts struct {
	Seconds   float64   `json:"seconds"`
	Tick      float64   `json:"tick"` // seconds of a unit of the events' times
	Nodes     int       `json:"nodes"`
	Whats     []string  `json:"whats"` // by number
	Tasks     []string  `json:"tasks"`
	On        []int     `json:"on"` // the nodes of the tasks
	Resources []string  `json:"resources"`
	Lanes     []lane    `json:"lanes"`   // of tasks
	Workers   []lane    `json:"workers"` // of workers: their events are in an order of their own
	Spent     []float64 `json:"spent"`   // seconds, by number of what
	Busy      float64   `json:"busy"`    // share of the time in which the workers' lanes are in use
	Waits     []waitSum `json:"waits"`   // the largest first
	Path      Path      `json:"path"`
	OnPath    []float64 `json:"onpath"`    // seconds of it, by number of what
	Travelled float64   `json:"travelled"` // seconds that bytes were on their way
	Hidden    float64   `json:"hidden"`    // seconds of Travelled in which the task did something else
	Apart     float64   `json:"apart"`     // the clocks
	Left      int       `json:"left"`      // slices and turns that were not recorded
	Events    int       `json:"events"`

	columns [6]column // of all events, by lane of a task and time
	order   column    // events by lane of a worker
}

// lane is a line of the page: the events from First on.
type lane struct {
	Node  int    `json:"node"`
	Name  string `json:"name"`
	First int    `json:"first"`
	Count int    `json:"count"`
}

// waitSum is all waits of a cause for a resource behind a task.
type waitSum struct {
	Cause    int     `json:"cause"`
	Resource string  `json:"resource"`
	Behind   int     `json:"behind"` // a task; -1: not known
	Seconds  float64 `json:"seconds"`
	Times    int     `json:"times"`
}

// column is a column of events.
type column []uint32

const (
	colFrom = iota
	colLasts
	colWhat
	colTask
	colResource // its number and 1, or 0
	colBehind   // the task and 1, or 0
)

const (
	mostWaitSums = 12
	mostPathHTML = 12
)

// WriteHTML writes the trace as a page: lanes of workers and of tasks, the critical path, and what tasks waited for. It loads nothing.
func (t *Trace) WriteHTML(to io.Writer) error {
	f := t.facts()
	head, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	page, err := pageSources.ReadFile("page.html")
	if err != nil {
		return err
	}
	script, err := pageSources.ReadFile("page.js")
	if err != nil {
		return err
	}
	b := bufio.NewWriter(to)
	begin, rest, _ := strings.Cut(string(page), "FACTS")
	middle, end, _ := strings.Cut(rest, "EVENTS")
	_, _ = b.WriteString(begin)
	_, _ = b.Write(head) // no name in it can end the script: Marshal writes < as \u003c
	_, _ = b.WriteString(middle)
	text := base64.NewEncoder(base64.StdEncoding, b)
	packed, _ := gzip.NewWriterLevel(text, gzip.BestSpeed) // the level is one
	for _, c := range append(f.columns[:], f.order) {
		if err := binary.Write(packed, binary.LittleEndian, []uint32(c)); err != nil {
			return err
		}
	}
	if err := packed.Close(); err != nil {
		return err
	}
	if err := text.Close(); err != nil {
		return err
	}
	_, _ = b.WriteString(strings.Replace(end, "/* page.js */\n", string(script), 1)) // Flush tells
	return b.Flush()
}

// facts puts the page's data together.
func (t *Trace) facts() *facts {
	before := t.before()
	f := &facts{
		Seconds: (t.To - t.From).Seconds(), Tick: max(1, float64(t.To-t.From)/(1<<31)) / 1e9, Events: 0,
		Whats: []string{ForTurn.String(), ForData.String(), Queued.String(), Release, Compute},
		Lanes: []lane{}, Workers: []lane{}, Waits: []waitSum{}, Resources: []string{},
	}
	walk := t.walkBack(before)
	f.Path = walk.path()
	f.Path.Parts = f.Path.Parts[:min(len(f.Path.Parts), mostPathHTML)]
	travelled, hidden := t.hidden()
	f.Travelled, f.Hidden = travelled.Seconds(), hidden.Seconds()
	nodes := make(map[int]bool)
	for i := range t.Tracks {
		k := &t.Tracks[i]
		nodes[k.Node] = true
		f.Tasks, f.On = append(f.Tasks, k.Task), append(f.On, k.Node)
		f.Left += k.Rest.Slices + k.Rest.Turns
	}
	f.Nodes = len(nodes)
	for _, c := range t.Clocks {
		f.Apart = max(f.Apart, c.Error.Seconds())
	}
	b := pageBuilder{Trace: t, facts: f, resources: make(map[string]int), whats: make(map[string]int), waits: make(map[waitSum]waitSum), path: make([][]pathStep, len(t.Tracks))}
	for what, name := range f.Whats {
		b.whats[name] = what
	}
	for _, s := range slices.Backward(walk.way) {
		b.path[s.track] = append(b.path[s.track], s)
	}
	for i := range t.Tracks {
		b.track(i, before)
	}
	b.workers()
	for _, w := range b.waits {
		f.Waits = append(f.Waits, w)
	}
	slices.SortFunc(f.Waits, func(a, b waitSum) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Behind, b.Behind))
	})
	f.Waits = f.Waits[:min(len(f.Waits), mostWaitSums)]
	f.Spent, f.OnPath = b.spent[:len(f.Whats)], b.onPath[:len(f.Whats)]
	f.Events = len(f.columns[colFrom])
	return f
}

// pageBuilder adds tracks to the facts.
type pageBuilder struct {
	*Trace
	*facts
	resources, whats map[string]int
	waits            map[waitSum]waitSum // by cause, resource and task
	path             [][]pathStep        // by track, in order
	spent, onPath    [mostWhats]float64
	runs             []worked
}

// worked is a time in which a task has a worker: events without a gap.
type worked struct {
	node, task, first, end int // events first to end
	from, to               time.Duration
}

// aGap is how long nothing may be recorded in a run: shorter slices are left out.
const aGap = 2 * short

// pageEvent is an event of a track.
type pageEvent struct {
	from, to               time.Duration
	what, resource, behind int
}

// track adds the lane of a task.
func (b *pageBuilder) track(track int, before map[Spot]Spot) {
	k := &b.Tracks[track]
	all := make([]pageEvent, 0, len(k.Slices))
	for _, s := range k.Slices {
		all = append(all, pageEvent{from: s.From, to: s.To, what: b.what(s.Name)})
	}
	for _, s := range b.stretches(before, track) {
		all = append(all, pageEvent{s.from, s.to, int(s.cause), b.resource(k.Accesses[s.access].Resource), s.behind + 1})
		w := waitSum{Cause: int(s.cause), Resource: k.Accesses[s.access].Resource, Behind: s.behind}
		sum := b.waits[w]
		w.Seconds, w.Times = sum.Seconds+(s.to-s.from).Seconds(), sum.Times+1
		b.waits[waitSum{Cause: w.Cause, Resource: w.Resource, Behind: w.Behind}] = w
	}
	slices.SortStableFunc(all, func(a, b pageEvent) int { return cmp.Compare(a.from, b.from) })
	l := lane{k.Node, k.Task, len(b.columns[colFrom]), len(all)}
	path := b.path[track]
	last := worked{node: k.Node, task: track, to: none}
	for i, e := range all {
		b.spent[e.what] += (e.to - e.from).Seconds()
		what := uint32(e.what)
		for len(path) > 0 && path[0].to <= e.from {
			path = path[1:]
		}
		for n := 0; n < len(path) && path[n].from < e.to; n++ {
			what |= onPath
			b.onPath[e.what] += (min(e.to, path[n].to) - max(e.from, path[n].from)).Seconds()
		}
		for c, v := range []uint32{b.tick(e.from), max(1, b.tick(e.to)-b.tick(e.from)), what, uint32(track), uint32(e.resource), uint32(e.behind)} {
			b.columns[c] = append(b.columns[c], v)
		}
		if e.what < int(causes) {
			continue
		}
		if last.to == none || e.from-last.to > aGap {
			if last.to != none {
				b.runs = append(b.runs, last)
			}
			last.first, last.from = l.First+i, e.from
		}
		last.end, last.to = l.First+i+1, e.to
	}
	if last.to != none {
		b.runs = append(b.runs, last)
	}
	b.Lanes = append(b.Lanes, l)
}

// tick is a time in units of the page.
func (b *pageBuilder) tick(at time.Duration) uint32 {
	return uint32(max(0, min(b.To, at)-b.From).Seconds() / b.facts.Tick)
}

// The method what returns the number of a kind of slice. A page tells few apart, and the last number is all others.
func (b *pageBuilder) what(name string) int {
	what, known := b.whats[name]
	if !known {
		what = min(len(b.Whats), mostWhats-1)
		b.whats[name] = what
		switch {
		case what == mostWhats-1 && len(b.Whats) == what:
			b.Whats = append(b.Whats, "others")
		case what < mostWhats-1:
			b.Whats = append(b.Whats, name)
		}
	}
	return what
}

// resource is the number of a resource, and 1.
func (b *pageBuilder) resource(name string) int {
	number, known := b.resources[name]
	if !known {
		number = len(b.facts.Resources) + 1
		b.facts.Resources = append(b.facts.Resources, name)
		b.resources[name] = number
	}
	return number
}

// workers packs the runs of each node into lanes.
func (b *pageBuilder) workers() {
	slices.SortStableFunc(b.runs, func(x, y worked) int { return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(x.from, y.from)) })
	var used time.Duration
	for first := 0; first < len(b.runs); {
		end := first
		for end < len(b.runs) && b.runs[end].node == b.runs[first].node {
			end++
		}
		var lanes [][]worked
		free, busy := ints{}, ends{}
		for _, r := range b.runs[first:end] {
			for len(busy) > 0 && busy[0].at <= r.from {
				heap.Push(&free, heap.Pop(&busy).(laneEnd).lane)
			}
			if len(free) == 0 {
				heap.Push(&free, len(lanes))
				lanes = append(lanes, nil)
			}
			at := heap.Pop(&free).(int)
			lanes[at] = append(lanes[at], r)
			heap.Push(&busy, laneEnd{r.to, at})
			used += r.to - r.from
		}
		for i, runs := range lanes {
			l := lane{Node: b.runs[first].node, Name: fmt.Sprint("worker ", i), First: len(b.order)}
			for _, r := range runs {
				for e := r.first; e < r.end; e++ {
					if b.columns[colWhat][e]&^onPath >= uint32(causes) {
						b.order = append(b.order, uint32(e))
					}
				}
			}
			l.Count = len(b.order) - l.First
			b.Workers = append(b.Workers, l)
		}
		first = end
	}
	if all := time.Duration(len(b.Workers)) * (b.To - b.From); all > 0 {
		b.Busy = float64(used) / float64(all)
	}
}

// laneEnd is when a lane is free again.
type laneEnd struct {
	at   time.Duration
	lane int
}

// ends is a heap of lanes, the first to be free on top.
type ends []laneEnd

func (h ends) Len() int           { return len(h) }
func (h ends) Less(i, j int) bool { return h[i].at < h[j].at }
func (h ends) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ends) Push(x any)        { *h = append(*h, x.(laneEnd)) }
func (h *ends) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// ints is a heap of numbers, the smallest on top.
type ints []int

func (h ints) Len() int           { return len(h) }
func (h ints) Less(i, j int) bool { return h[i] < h[j] }
func (h ints) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ints) Push(x any)        { *h = append(*h, x.(int)) }
func (h *ints) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
