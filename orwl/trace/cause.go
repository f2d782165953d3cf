package trace

import (
	"cmp"
	"slices"
	"time"
)

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
