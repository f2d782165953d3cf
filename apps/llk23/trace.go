package main

import "time"

// mostSlices is how many slices a trace keeps, all tasks together. More than that
// no viewer shows in a reasonable time.
const mostSlices = 1 << 18

// trace is what all tasks did, one by one, as far as there is room. The room is
// shared evenly: each track has the first slices of its task, and only the sums
// of those that came after them.
type trace struct {
	most   int
	tracks []*track
}

func newTrace(most int) *trace { return &trace{most: most} }

// follow gives each of f's tasks that is here a track, and a clock. There is nothing
// to follow with no trace.
func (tr *trace) follow(f *field, clock func() time.Duration) {
	if tr == nil {
		return
	}
	all := 0
	for p, a := range f.actors() {
		all++
		if p.node == f.nodes.Number() {
			a.watch.clock, a.watch.track = clock, &track{Name: a.Name(), Node: p.node}
			tr.tracks = append(tr.tracks, a.watch.track)
		}
	}
	for _, t := range tr.tracks {
		t.room = max(1, tr.most/all)
	}
}

// gather makes the tracks of all nodes the trace's, when they are here.
func (tr *trace) gather(f *field) {
	if tr == nil {
		return
	}
	tr.tracks = nil
	for _, a := range f.actors() {
		tr.tracks = append(tr.tracks, a.watch.track)
	}
}

// track is one task's part in a trace. It belongs to that task, and later goes to
// node 0.
type track struct {
	Name   string
	Node   int
	room   int
	Slices []slice
	Leaves []handover // of frontiers that the task wrote
	Comes  []handover // of frontiers that it read

	Rest     [phases]time.Duration // what there was no room for
	Dropped  int                   // slices
	From, To time.Duration         // of these
}

// slice is one phase of a task.
type slice struct {
	Phase    phase
	From, To time.Duration
}

// journey is a frontier of an iteration, from the task that wrote it to the one
// that read it.
type journey struct{ Frontier, Iteration int }

// handover is one end of a journey.
type handover struct {
	Journey journey
	At      time.Duration
}

// arrows is how many hand-overs there is room for beside a slice, at either end:
// a task reads, or writes, up to eight frontiers in an iteration of three slices.
const arrows = 3

func (t *track) add(p phase, from, to time.Duration) {
	if from == to {
		return
	}
	if len(t.Slices) < t.room {
		t.Slices = append(t.Slices, slice{p, from, to})
		return
	}
	if t.Dropped == 0 {
		t.From = from
	}
	t.Dropped++
	t.To = to
	t.Rest[p] += to - from
}

// come notes that the frontier of an iteration was read. That of the iteration
// before the first has come from nobody.
func (t *track) come(f *frontier, iteration int, at time.Duration) {
	if iteration >= 0 && t.Dropped == 0 && len(t.Comes) < arrows*t.room {
		t.Comes = append(t.Comes, handover{journey{f.number, iteration}, at})
	}
}

// leave notes that it was written.
func (t *track) leave(f *frontier, iteration int, at time.Duration) {
	if t.Dropped == 0 && len(t.Leaves) < arrows*t.room {
		t.Leaves = append(t.Leaves, handover{journey{f.number, iteration}, at})
	}
}

// delay moves everything to a time that much later.
func (t *track) delay(by time.Duration) {
	for i := range t.Slices {
		t.Slices[i].From += by
		t.Slices[i].To += by
	}
	for _, ends := range [][]handover{t.Leaves, t.Comes} {
		for i := range ends {
			ends[i].At += by
		}
	}
	t.From += by
	t.To += by
}
