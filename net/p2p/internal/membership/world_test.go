package membership

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// world is some nodes, what is under way between them, and what may still go wrong. It is
// played move by move: by TestEverySchedule in every way, and by TestSeeds at random.
type world struct {
	nodes  []*Member
	gone   []State       // Ended or Left, or In
	hears  [][]bool      // [i][j]: i has not lost j
	lanes  [][][]Message // [i][j]: from i to j
	faults int           // that are left
	loose  bool          // messages overtake each other
	been   [][]string    // [i][k]: the members of epoch k, if i has entered it
	wrong  string
}

func newWorld(nodes, faults int) *world {
	w := &world{faults: faults, gone: slices.Repeat([]State{In}, nodes)}
	first := Epoch{Number: 1}
	for i := range nodes {
		first.Seats = append(first.Seats, Seat{Life: uint64(100 + i), State: In})
	}
	for i := range nodes {
		w.nodes = append(w.nodes, New(i, first))
		w.hears = append(w.hears, slices.Repeat([]bool{true}, nodes))
		w.lanes = append(w.lanes, make([][]Message, nodes))
		w.been = append(w.been, nil)
	}
	return w
}

// what is a kind of move.
type what uint8

const (
	arrives what = iota // a message from other to node
	dies                // the process of node
	leaves              // node does, because it is apart
	ends                // node learns that other has ended or left
	refused             // node learns that other has lost it
	silent              // node hears nothing of other for too long
)

// move is one thing that may happen.
type move struct {
	what        what
	node, other int
	how         State
	at          int // of the messages
}

func (m move) String() string {
	names := []string{"to %d arrives what %d has sent", "%d dies", "%d leaves", "%d knows that %d is gone", "%d is refused by %d", "%d hears nothing of %d"}
	if m.what == dies || m.what == leaves {
		return fmt.Sprintf(names[m.what], m.node)
	}
	return fmt.Sprintf(names[m.what], m.node, m.other)
}

// moves are all that may happen now. Faults come last: the first ones are due in any case.
func (w *world) moves() (due, faults []move) {
	for i := range w.nodes {
		if w.gone[i] != In {
			continue
		}
		if w.nodes[i].Apart() {
			due = append(due, move{what: leaves, node: i})
		}
		for j := range w.nodes {
			if i == j || !w.hears[i][j] {
				continue
			}
			for k := range w.lanes[j][i] {
				if k == 0 || w.loose {
					due = append(due, move{what: arrives, node: i, other: j, at: k})
				}
			}
			switch {
			case w.gone[j] != In:
				due = append(due, move{what: ends, node: i, other: j, how: w.gone[j]})
			case !w.hears[j][i]:
				due = append(due, move{what: refused, node: i, other: j, how: Silent})
			}
			faults = append(faults, move{what: silent, node: i, other: j, how: Silent})
		}
		faults = append(faults, move{what: dies, node: i})
	}
	if w.faults == 0 {
		faults = nil
	}
	return due, faults
}

// play plays a move. If it breaks something, wrong says what.
func (w *world) play(m move) {
	var out []Letter
	var err error
	n := w.nodes[m.node]
	switch m.what {
	case arrives:
		lane := &w.lanes[m.other][m.node]
		in := (*lane)[m.at]
		*lane = slices.Delete(slices.Clone(*lane), m.at, m.at+1)
		out, err = n.Step(m.other, in)
	case dies:
		w.faults--
		w.gone[m.node] = Ended
		return
	case leaves:
		w.gone[m.node] = Left
		return
	default:
		if m.what == silent {
			w.faults--
		}
		w.hears[m.node][m.other] = false
		w.lanes[m.other][m.node] = nil
		out = n.Lost(m.other, m.how)
	}
	if err != nil {
		w.wrong = err.Error()
	}
	for _, l := range out {
		if l.To == m.node || !w.hears[m.node][l.To] {
			w.wrong = fmt.Sprintf("node %d sends %+v", m.node, l)
		}
		w.lanes[m.node][l.To] = append(slices.Clone(w.lanes[m.node][l.To]), l.Message)
	}
	w.enters(m.node)
}

// enters notes the epoch of a node. Nodes that live agree on it.
func (w *world) enters(node int) {
	e := w.nodes[node].Epoch()
	k, members := int(e.Number), fmt.Sprint(e.Seats)
	if k < len(w.been[node]) {
		return
	}
	been := slices.Clone(w.been[node])
	for len(been) < k {
		been = append(been, "")
	}
	w.been[node] = append(been, members)
	for i := range e.Seats { // a node gives up those that take no part
		if i != node && !e.Has(i) {
			w.hears[node][i], w.lanes[i][node] = false, nil
		}
	}
	for i, other := range w.been {
		if w.gone[i] == In && k < len(other) && other[k] != "" && other[k] != members {
			w.wrong = fmt.Sprintf("epoch %d is %v on node %d, and %v on node %d", k, members, node, other[k], i)
		}
	}
}

// over checks a world in which nothing is due: the nodes that are left are in one epoch, and hear
// its chair, who hears all of it.
func (w *world) over() {
	on := -1
	for i, n := range w.nodes {
		if w.gone[i] != In {
			continue
		}
		if on < 0 {
			on = i
		}
		e, chair := n.Epoch(), n.chair()
		switch {
		case e.Number != w.nodes[on].Epoch().Number || chair != w.nodes[on].chair():
			w.wrong = fmt.Sprintf("node %d goes on in epoch %d with chair %d, and node %d in epoch %d with chair %d",
				on, w.nodes[on].Epoch().Number, w.nodes[on].chair(), i, e.Number, chair)
		case !slices.Equal(w.nodes[chair].next(), e.Seats):
			w.wrong = fmt.Sprintf("node %d waits in epoch %d for node %d, who hears %v", i, e.Number, chair, w.nodes[chair].view)
		}
	}
}

// clone is a copy. Members are copied; slices of messages and seats never change.
func (w *world) clone() *world {
	c := *w
	c.gone, c.been = slices.Clone(w.gone), slices.Clone(w.been)
	c.nodes, c.hears, c.lanes = slices.Clone(w.nodes), slices.Clone(w.hears), slices.Clone(w.lanes)
	for i, n := range w.nodes {
		m := *n
		m.view, m.asked, m.answers = slices.Clone(n.view), slices.Clone(n.asked), slices.Clone(n.answers)
		c.nodes[i] = &m
		c.hears[i], c.lanes[i] = slices.Clone(w.hears[i]), slices.Clone(w.lanes[i])
	}
	return &c
}

// key tells worlds apart.
func (w *world) key() string {
	b := []byte{byte(w.faults)}
	for i, n := range w.nodes {
		b = append(b, byte(w.gone[i]))
		b = appendBools(b, w.hears[i]...)
		for j := range w.nodes {
			b = append(b, byte(len(w.lanes[i][j])))
			for _, m := range w.lanes[i][j] {
				b = appendMessage(b, m)
			}
			b = append(b, byte(n.view[j]))
			if n.asked[j] != nil {
				b = appendMessage(append(b, 1), *n.asked[j])
			}
		}
		b = append(b, byte(len(w.been[i])))
		for _, e := range w.been[i] {
			b = append(append(b, byte(len(e))), e...)
		}
		b = binary.AppendUvarint(b, n.epoch.Number)
		b = appendSeats(b, n.epoch.Seats)
		b = appendBallot(appendBallot(b, n.taken), n.best)
		b = appendSeats(appendSeats(b, n.seats), n.offer)
		b = binary.AppendUvarint(b, n.try)
		b = appendBools(b, n.offers, n.apart)
		b = appendBools(append(b, byte(len(n.answers))), n.answers...)
	}
	return string(b)
}

func appendBools(b []byte, all ...bool) []byte {
	for _, is := range all {
		if is {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

func appendBallot(b []byte, of Ballot) []byte { return append(b, byte(of.Chair), byte(of.Try)) }

func appendSeats(b []byte, all []Seat) []byte {
	b = append(b, byte(len(all)))
	for _, s := range all {
		b = append(b, byte(s.Life), byte(s.State))
	}
	return b
}

func appendMessage(b []byte, m Message) []byte {
	b = append(b, byte(m.Kind), byte(m.Number))
	b = appendSeats(appendBallot(appendBallot(b, m.Ballot), m.Taken), m.Seats)
	for _, s := range m.Gone {
		b = append(b, byte(s))
	}
	return b
}
