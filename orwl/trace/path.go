package trace

import (
	"cmp"
	"slices"
	"time"
)

// Path is the critical path: the run would have been shorter without it. It leads backwards from the end
// of the task that ended last: through the work of that task to its last wait, from there to the task
// that released the resource, and so on to the beginning.
type Path struct {
	Seconds float64 `json:"seconds"`
	// Steps is how often it goes from one task to another.
	Steps int        `json:"steps"`
	Parts []PathPart `json:"parts"` // the longest first
}

// PathPart is what a path spends in one way, all of it together.
type PathPart struct {
	// The values of What are "work" (of a task: all that it does except waiting), "hand-over" (of a
	// resource: from its release until the next task that waits for it has it) or "wait" (of
	// a task, when no task is known to have had the resource that it waited for).
	What    string  `json:"what"`
	Of      string  `json:"of"`
	Node    int     `json:"node"`  // of the task, or of the one that has waited for the resource
	Times   int     `json:"times"` // how often the path goes through it
	Seconds float64 `json:"seconds"`
}

// The values of PathPart.What.
const (
	pathWork     = "work"
	pathHandover = "hand-over"
	pathWait     = "wait"
)

// pathWalk goes backwards through a trace.
type pathWalk struct {
	*Trace
	before map[Spot]Spot
	waits  [][]int  // by track: the turns that it waited for, in the order in which the waits ended
	rounds []rounds // by track, when it is needed
	parts  map[PathPart]pathSum
	steps  int
	total  time.Duration
	way    []pathStep // from the end to the beginning
}

// pathStep is a part of the way: what a track did, or waited for.
type pathStep struct {
	track    int
	from, to time.Duration
}

// pathSum is what a path spends in one way.
type pathSum struct {
	times int
	lasts time.Duration
}

// walkBack finds the critical path.
func (t *Trace) walkBack(before map[Spot]Spot) *pathWalk {
	w := &pathWalk{Trace: t, before: before, parts: make(map[PathPart]pathSum), rounds: make([]rounds, len(t.Tracks))}
	last, at := -1, none
	for i := range t.Tracks {
		k := &t.Tracks[i]
		w.waits = append(w.waits, k.waits())
		if end := k.end(); end != none && (last < 0 || end > at) {
			last, at = i, end
		}
	}
	if last >= 0 {
		w.walk(last, at)
	}
	return w
}

// waits are the turns that the track waited for.
func (k *Track) waits() (turns []int) {
	for j := range k.Turns {
		if _, _, waited := k.Turns[j].Waited(); waited {
			turns = append(turns, j)
		}
	}
	slices.SortFunc(turns, func(a, b int) int {
		_, x, _ := k.Turns[a].Waited()
		_, y, _ := k.Turns[b].Waited()
		return cmp.Compare(x, y)
	})
	return turns
}

// end is when the track's last work ended, as far as it was recorded one by one.
func (k *Track) end() time.Duration {
	end := none
	for _, s := range k.Slices[max(0, len(k.Slices)-1):] {
		end = s.To
	}
	for i := range k.Turns {
		if _, to, waited := k.Turns[i].Waited(); waited {
			end = max(end, to)
		}
	}
	return end
}

// start is when its first work began.
func (k *Track) start() time.Duration {
	start := k.Began
	for _, s := range k.Slices[:min(1, len(k.Slices))] {
		if start == none || s.From < start {
			start = s.From
		}
	}
	return start
}

// walk goes back from a time of a track. Times only go back, and each wait is passed once.
func (w *pathWalk) walk(track int, at time.Duration) {
	for {
		k := &w.Tracks[track]
		turns := w.waits[track]
		n, _ := slices.BinarySearchFunc(turns, at, func(j int, at time.Duration) int {
			_, to, _ := k.Turns[j].Waited()
			if to <= at {
				return -1
			}
			return 1
		})
		if n == 0 {
			w.add(pathWork, k.Task, track, min(at, k.start()), at)
			return
		}
		j := turns[n-1]
		w.waits[track] = turns[:n-1]
		u := &k.Turns[j]
		from, to, _ := u.Waited()
		w.add(pathWork, k.Task, track, to, at)
		if w.rounds[track].of == nil {
			w.rounds[track] = k.rounds()
		}
		before := w.cameLast(w.before, track, j, w.rounds[track])
		resource, released := k.Accesses[before.access].Resource, min(before.released, to)
		switch {
		case before.behind < 0:
			w.add(pathWait, k.Task, track, from, to)
			at = from
		case released <= from: // it was free before, and on its way
			w.add(pathHandover, resource, track, from, to)
			at = from
		default:
			w.add(pathHandover, resource, track, released, to)
			track, at = before.behind, released
			w.steps++
		}
	}
}

func (w *pathWalk) add(what, of string, track int, from, to time.Duration) {
	if lasts := to - from; lasts > 0 {
		w.way = append(w.way, pathStep{track, from, to})
		part := PathPart{What: what, Of: of, Node: w.Tracks[track].Node}
		sum := w.parts[part]
		w.parts[part] = pathSum{sum.times + 1, sum.lasts + lasts}
		w.total += lasts
	}
}

func (w *pathWalk) path() Path {
	p := Path{Seconds: w.total.Seconds(), Steps: w.steps, Parts: []PathPart{}}
	for part, sum := range w.parts {
		part.Times, part.Seconds = sum.times, sum.lasts.Seconds()
		p.Parts = append(p.Parts, part)
	}
	slices.SortFunc(p.Parts, func(a, b PathPart) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.What, b.What), cmp.Compare(a.Of, b.Of), cmp.Compare(a.Node, b.Node))
	})
	return p
}

// Spot is a turn of a track of a trace.
type Spot struct{ Track, Turn int }

// Handover is how a resource came from one turn to another, whose task may be of another
// node.
type Handover struct {
	Resource string
	From, To Spot
}

// turn is the turn at a spot.
func (t *Trace) turn(s Spot) *Turn { return &t.Tracks[s.Track].Turns[s.Turn] }

// access is the access at a spot.
func (t *Trace) access(s Spot) Access {
	k := &t.Tracks[s.Track]
	return k.Accesses[k.Turns[s.Turn].Access]
}

// Handovers are the hand-overs with both ends recorded, in the order of their ends. A writer
// gets a resource from the last of the readers before it, or from the writer before it if
// there are none. Each of a group of readers gets it from the writer before them.
func (t *Trace) Handovers() []Handover {
	held := make(map[string][]Spot)
	for i := range t.Tracks {
		for j := range t.Tracks[i].Turns {
			if s := (Spot{i, j}); t.turn(s).Acquired != none {
				name := t.access(s).Resource
				held[name] = append(held[name], s)
			}
		}
	}
	var all []Handover
	for name, spots := range held {
		slices.SortFunc(spots, t.inTurn)
		all = t.handOn(name, spots, all)
	}
	slices.SortFunc(all, func(a, b Handover) int {
		return cmp.Or(
			cmp.Compare(t.turn(a.To).Acquired, t.turn(b.To).Acquired), cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.To.Track, b.To.Track), cmp.Compare(a.To.Turn, b.To.Turn))
	})
	return all
}

// inTurn compares turns of a resource: by fence, a writer before the readers that have
// its, and those by when they released.
func (t *Trace) inTurn(a, b Spot) int {
	x, y := t.turn(a), t.turn(b)
	wrote := func(s Spot) int {
		if t.access(s).Write {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(x.Fence, y.Fence), cmp.Compare(wrote(a), wrote(b)), cmp.Compare(x.Released, y.Released),
		cmp.Compare(a.Track, b.Track), cmp.Compare(a.Turn, b.Turn))
}

// handOn appends the hand-overs of a resource, whose turns are in order.
func (t *Trace) handOn(name string, spots []Spot, all []Handover) []Handover {
	writer, last := -1, -1 // the writer with the present fence, and the last turn of all
	for i, s := range spots {
		write, fence := t.access(s).Write, t.turn(s).Fence
		from := writer
		if write {
			from = last
			if last >= 0 && t.turn(spots[last]).Fence+1 != fence {
				from = -1 // something in between was not recorded
			}
			writer = i
		} else if writer >= 0 && t.turn(spots[writer]).Fence != fence {
			writer, from = -1, -1
		}
		if from >= 0 {
			all = append(all, Handover{Resource: name, From: spots[from], To: s})
		}
		last = i
	}
	return all
}

// A wait has up to three parts. They are what a reader wants to know apart, since each has another remedy:
//
//	asked ──turn──▶ the task before has released ──data──▶ the bytes are here ──queued──▶ acquired
//
// A step task waits for all its accesses at once, and begins when a worker is free. So the access that came last counts, not the
// one that the task was seen to wait for.

// Cause is why a task waits.
type Cause uint8

const (
	ForTurn Cause = iota // another task has not released the resource
	ForData              // the resource is released, and its bytes are on their way from another node
	Queued               // all is here, and no worker is free; a hand-over within a node takes a bit of this, too
	causes
)

// String is the cause in words.
func (c Cause) String() string {
	return [...]string{ForTurn: "waits for a turn", ForData: "waits for data", Queued: "queued"}[c]
}

// stretch is a part of a wait.
type stretch struct {
	cause    Cause
	from, to time.Duration
	access   int // of the track: the one that came last
	behind   int // the track that released it; -1 if that was not recorded
}

// rounds are the turns of a track by access: turn n of each access is of round n.
type rounds struct {
	of    [][]int // by access: its turns
	place []int   // by turn: the round
}

func (k *Track) rounds() rounds {
	r := rounds{make([][]int, len(k.Accesses)), make([]int, len(k.Turns))}
	for j := range k.Turns {
		a := k.Turns[j].Access
		r.place[j] = len(r.of[a])
		r.of[a] = append(r.of[a], j)
	}
	return r
}

// comes is how an access came to a task that waited.
type comes struct {
	access         int
	behind         int           // the track that had it before; -1 if that was not recorded
	released, here time.Duration // by that one; and when the bytes were here, too
}

// cameLast is which access a task waited for longest, in the wait for turn j of a track. It is the access of that turn if all others
// were there before the wait, or if that was not recorded.
func (t *Trace) cameLast(before map[Spot]Spot, track, j int, r rounds) comes {
	k := &t.Tracks[track]
	from, to, _ := k.Turns[j].Waited()
	come := func(a, turn int) comes {
		c := comes{access: a, behind: -1, released: none, here: k.Turns[turn].Here}
		if b, known := before[Spot{track, turn}]; known {
			c.behind, c.released = b.Track, t.turn(b).Released
		}
		c.here = max(c.here, c.released)
		return c
	}
	last := come(k.Turns[j].Access, j)
	for a, turns := range r.of {
		if a == last.access || r.place[j] >= len(turns) {
			continue
		}
		if c := come(a, turns[r.place[j]]); c.here > max(from, last.here) && c.here <= to {
			last = c
		}
	}
	return last
}

// stretches are the waits of a track, in order.
func (t *Trace) stretches(before map[Spot]Spot, track int) (all []stretch) {
	k := &t.Tracks[track]
	r := k.rounds()
	for _, j := range k.waits() {
		from, to, _ := k.Turns[j].Waited()
		c := t.cameLast(before, track, j, r)
		if c.here == none || k.Turns[j].Acquired == none {
			c.released, c.here = to, to // nothing is known of the task before, or this one has given up
		}
		add := func(cause Cause, a, b time.Duration) {
			if a, b = max(a, from), min(b, to); b > a {
				all = append(all, stretch{cause, a, b, c.access, c.behind})
			}
		}
		add(ForTurn, from, c.released)
		add(ForData, c.released, c.here)
		add(Queued, c.here, to)
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return all
}

// hidden is for how long bytes travelled to the tasks of all nodes, and how much of that an announcement has hidden: the task did
// something else.
func (t *Trace) hidden() (travelled, hidden time.Duration) {
	for i := range t.Tracks {
		for j := range t.Tracks[i].Turns {
			u := &t.Tracks[i].Turns[j]
			if u.Here == none || u.Acquired == none {
				continue
			}
			free := u.Acquired
			if u.Asked != none {
				free = u.Asked
			}
			travelled += max(0, u.Here-u.Requested)
			hidden += max(0, min(free, u.Here)-u.Requested)
		}
	}
	return travelled, hidden
}
