package trace

import (
	"cmp"
	"slices"
)

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
