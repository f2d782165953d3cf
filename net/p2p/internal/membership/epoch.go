package membership

import "slices"

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
type Seat struct {
	Life    uint64 `msgpack:"life"`
	Address string `msgpack:"address"`
	State   State  `msgpack:"state"`
}

// Epoch is who takes part in a run, by number of the node. Do not change the seats.
type Epoch struct {
	Number uint64
	Seats  []Seat
}

// Has reports whether a node takes part.
func (e Epoch) Has(node int) bool { return e.Seats[node].State == In }

// Chair is the lowest member, or -1 if there is none.
func (e Epoch) Chair() int {
	return slices.IndexFunc(e.Seats, func(s Seat) bool { return s.State == In })
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
