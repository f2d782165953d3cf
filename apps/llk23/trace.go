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

// follow gives each of f's tasks a track, and a clock. There is nothing to follow
// with no trace.
func (tr *trace) follow(f *field, clock func() time.Duration) {
	if tr == nil {
		return
	}
	for a := range f.actors() {
		a.watch.clock, a.watch.track = clock, &track{name: a.Name()}
		tr.tracks = append(tr.tracks, a.watch.track)
	}
	for _, t := range tr.tracks {
		t.room = max(1, tr.most/len(tr.tracks))
	}
}

// track is one task's part in a trace. It belongs to that task.
type track struct {
	name   string
	room   int
	slices []slice
	leaves []handover // of frontiers that the task wrote
	comes  []handover // of frontiers that it read

	rest     [phases]time.Duration // what there was no room for
	dropped  int                   // slices
	from, to time.Duration         // of these
}

// slice is one phase of a task.
type slice struct {
	phase    phase
	from, to time.Duration
}

// journey is a frontier of an iteration, from the task that wrote it to the one
// that read it.
type journey struct{ frontier, iteration int }

// handover is one end of a journey.
type handover struct {
	journey
	at time.Duration
}

// arrows is how many hand-overs there is room for beside a slice, at either end:
// a task reads, or writes, up to eight frontiers in an iteration of three slices.
const arrows = 3

func (t *track) add(p phase, from, to time.Duration) {
	if from == to {
		return
	}
	if len(t.slices) < t.room {
		t.slices = append(t.slices, slice{p, from, to})
		return
	}
	if t.dropped == 0 {
		t.from = from
	}
	t.dropped++
	t.to = to
	t.rest[p] += to - from
}

// come notes that the frontier of an iteration was read. That of the iteration
// before the first has come from nobody.
func (t *track) come(f *frontier, iteration int, at time.Duration) {
	if iteration >= 0 && t.dropped == 0 && len(t.comes) < arrows*t.room {
		t.comes = append(t.comes, handover{journey{f.number, iteration}, at})
	}
}

// leave notes that it was written.
func (t *track) leave(f *frontier, iteration int, at time.Duration) {
	if t.dropped == 0 && len(t.leaves) < arrows*t.room {
		t.leaves = append(t.leaves, handover{journey{f.number, iteration}, at})
	}
}
