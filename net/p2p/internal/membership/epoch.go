package membership

import "cmp"

// State says whether a node takes part, or how it went.
type State uint8

// The states of a node.
const (
	Absent State = iota // it never was there
	In
	Silent // it was lost because nothing was heard of it: its process may run
	Ended  // its process has ended
	Left   // it has said so
)

// certain reports whether nothing is done by the node any more.
func (s State) certain() bool { return s == Ended || s == Left }

// Seat is what an epoch says of one node. Life tells apart the processes that have its number.
// Later ones have more. Since is the epoch that has let this one in.
type Seat struct {
	Life    uint64 `msgpack:"life"`
	Address string `msgpack:"address"`
	State   State  `msgpack:"state"`
	Since   uint64 `msgpack:"since"`
}

// Epoch lists the nodes that take part in a run, by number. Do not change the seats.
type Epoch struct {
	Number uint64
	Seats  []Seat
}

// Has reports whether a node takes part.
func (e Epoch) Has(node int) bool { return e.Seats[node].State == In }

// Chair is the most senior member, or -1 if there is none.
func (e Epoch) Chair() int { return e.first(e.Has) }

// first is the most senior of some nodes, or -1 if there is none.
func (e Epoch) first(of func(node int) bool) int {
	first := -1
	for i := range e.Seats {
		if of(i) && (first < 0 || e.compare(i, first) < 0) {
			first = i
		}
	}
	return first
}

// compare orders the nodes by the epoch that has let them in, and then by number.
func (e Epoch) compare(a, b int) int {
	return cmp.Or(cmp.Compare(e.Seats[a].Since, e.Seats[b].Since), cmp.Compare(a, b))
}

// Members are the numbers of those that take part.
func (e Epoch) Members() (all []int) {
	for i := range e.Seats {
		if e.Has(i) {
			all = append(all, i)
		}
	}
	return all
}

// quorum reports whether some members may decide on the next epoch. gone says which members have ended or left
// for certain, and had not lost the node that says so.
func (e Epoch) quorum(of []bool, gone func(node int) bool) bool {
	members, there := 0, 0
	for i := range of {
		if e.Has(i) {
			members++
			if of[i] {
				there++
			}
		}
	}
	return e.all(of, gone) || 2*there > members || 2*there == members && of[e.Chair()]
}

// all reports whether of has all members that are not gone.
func (e Epoch) all(of []bool, gone func(node int) bool) bool {
	for i := range of {
		if e.Has(i) && !of[i] && !gone(i) {
			return false
		}
	}
	return true
}
