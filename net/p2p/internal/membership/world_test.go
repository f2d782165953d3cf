package membership

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// world is some nodes, what is under way between them, and what may still go wrong. It is
// played move by move: by TestEverySchedule in every way, and by TestSeeds at random.
//
// A node that has ended may come back, as another life. Lives have numbers of their own.
type world struct {
	number []int         // [life]: the node
	nodes  []*Member     // [life]: nil until it is let in
	gone   []State       // [life]: Ended or Left, or In
	lost   [][]bool      // [i][j]: life i has lost life j
	quiet  [][]bool      // [i][j]: and life j has let go since
	far    [][]bool      // [i][j]: life i was never in touch with life j
	doubts bool          // lives are sure of no end
	lanes  [][][]Message // [i][j]: from life i to life j
	faults int           // that are left
	backs  int           // lives that may come back
	loose  bool          // messages overtake each other
	been   [][]string    // [i][k]: the members of epoch k, if life i has entered it
	wrong  string
}

// firstLife is the life of node 0. The lives of a world follow.
const firstLife = 100

// newWorld has so many nodes. The last ones have left before.
func newWorld(nodes, left, faults int) *world {
	w := &world{faults: faults}
	first := whole(nodes)
	for i := range nodes {
		first.Seats[i].Life = uint64(firstLife + i)
		w.born(i)
	}
	for i := nodes - left; i < nodes; i++ {
		first.Seats[i].State, w.gone[i] = Left, Left
	}
	for i := range nodes - left {
		w.nodes[i] = New(i, first, w.sure(i))
		for j := nodes - left; j < nodes; j++ {
			w.lost[i][j] = true
		}
	}
	return w
}

// sure is how life i knows whether another node, if it has ended, had not lost it. It may, unless the
// other has given it up for longer than the lease.
func (w *world) sure(i int) func(node int) bool {
	return func(node int) bool { return !w.doubts && !w.quiet[w.lifeOf(i, node)][i] }
}

// born adds a life, which knows nothing.
func (w *world) born(node int) {
	for i := range w.number {
		w.lost[i] = append(slices.Clone(w.lost[i]), false)
		w.quiet[i] = append(slices.Clone(w.quiet[i]), false)
		w.far[i] = append(slices.Clone(w.far[i]), false)
		w.lanes[i] = append(slices.Clone(w.lanes[i]), nil)
	}
	w.number = append(slices.Clone(w.number), node)
	w.nodes = append(w.nodes, nil)
	w.gone = append(w.gone, In)
	w.lost = append(w.lost, make([]bool, len(w.number)))
	w.quiet = append(w.quiet, make([]bool, len(w.number)))
	w.far = append(w.far, make([]bool, len(w.number)))
	w.lanes = append(w.lanes, make([][]Message, len(w.number)))
	w.been = append(w.been, nil)
}

// lifeOf is the life that is node j for life i.
func (w *world) lifeOf(i, j int) int { return int(w.nodes[i].epoch.Seats[j].Life) - firstLife }

// knows reports whether life j is a member for life i, which has not lost it.
func (w *world) knows(i, j int) bool {
	return w.lifeOf(i, w.number[j]) == j && w.nodes[i].epoch.Has(w.number[j]) && !w.lost[i][j]
}

// excludes reports whether life j was a member for life i, or came before one, and is none any more.
func (w *world) excludes(i, j int) bool {
	at := w.lifeOf(i, w.number[j])
	return w.lost[i][j] || at > j || at == j && !w.nodes[i].epoch.Has(w.number[j])
}

// what is a kind of move.
type what uint8

const (
	arrives what = iota // a message from other to life
	dies                // the process of life
	leaves              // life does, because it is apart
	ends                // life learns that other has ended or left
	refused             // life learns that other has lost it
	silent              // life hears nothing of other for too long
	quiet               // life has given other up, and a lease is over since
	returns             // life has ended, and its node is started again
	knocks              // life asks other to be let in
)

// move is one thing that may happen.
type move struct {
	what        what
	life, other int
	how         State
	at          int // of the messages
}

func (m move) String() string {
	names := []string{
		"to %d arrives what %d has sent", "%d dies", "%d leaves", "%d knows that %d is gone", "%d is refused by %d",
		"%d hears nothing of %d", "%d knows that %d has let go", "%d comes back", "%d knocks at %d",
	}
	if m.what == dies || m.what == leaves || m.what == returns {
		return fmt.Sprintf(names[m.what], m.life)
	}
	return fmt.Sprintf(names[m.what], m.life, m.other)
}

// moves are all that may happen now. Faults come last: the first ones are due in any case.
func (w *world) moves() (due, faults []move) {
	for i, n := range w.nodes {
		if w.gone[i] != In {
			if w.backs > 0 && !slices.Contains(w.number[i+1:], w.number[i]) {
				faults = append(faults, move{what: returns, life: i})
			}
			continue
		}
		if w.faults > 0 {
			faults = append(faults, move{what: dies, life: i})
		}
		if n == nil {
			due = append(due, w.outside(i)...)
			continue
		}
		if n.Apart() {
			due = append(due, move{what: leaves, life: i})
		}
		for j := range w.nodes {
			if w.lets(i, j) {
				due = append(due, move{what: quiet, life: i, other: j})
			}
			if i == j || !w.knows(i, j) {
				continue
			}
			for k := range w.lanes[j][i] {
				if k == 0 || w.loose {
					due = append(due, move{what: arrives, life: i, other: j, at: k})
				}
			}
			switch {
			case w.gone[j] != In:
				due = append(due, move{what: ends, life: i, other: j, how: w.gone[j]})
			case w.nodes[j] != nil && w.excludes(j, i):
				due = append(due, move{what: refused, life: i, other: j, how: Silent})
			}
			if w.faults > 0 {
				faults = append(faults, move{what: silent, life: i, other: j, how: Silent})
			}
		}
	}
	return due, faults
}

// lets reports whether life j, which life i was in touch with and has given up, may be known to have let
// go.
func (w *world) lets(i, j int) bool {
	if w.backs == 0 && len(w.number) == len(w.nodes[i].view) { // it does not matter where no life comes in
		return false
	}
	return w.lost[i][j] && !w.far[i][j] && !w.quiet[i][j] && w.lifeOf(i, w.number[j]) == j && w.nodes[i].epoch.Seats[w.number[j]].State == Silent
}

// outside are the moves of a life that is not let in. It hears only that it is.
func (w *world) outside(i int) (due []move) {
	for j, n := range w.nodes {
		if n == nil {
			continue
		}
		if life := uint64(firstLife + i); w.gone[j] == In && n.knocks[w.number[i]].Life < life && n.epoch.Seats[w.number[i]].Life < life {
			due = append(due, move{what: knocks, life: i, other: j})
		}
		for k, m := range w.lanes[j][i] {
			if m.Kind == Enter {
				due = append(due, move{what: arrives, life: i, other: j, at: k})
			}
		}
	}
	return due
}

// play plays a move. If it breaks something, wrong says what.
func (w *world) play(m move) {
	var out []Letter
	var err error
	by := m.life
	switch m.what {
	case arrives:
		lane := &w.lanes[m.other][m.life]
		in := (*lane)[m.at]
		*lane = slices.Delete(slices.Clone(*lane), m.at, m.at+1)
		if n := w.nodes[m.life]; n != nil {
			out, err = n.Step(w.number[m.other], in)
		} else {
			w.nodes[m.life] = New(w.number[m.life], Epoch{in.Number, in.Seats}, w.sure(m.life))
		}
	case quiet:
		w.quiet[m.life][m.other] = true
		out = w.nodes[m.life].Quiet(w.number[m.other])
	case dies:
		w.faults--
		w.gone[m.life] = Ended
		return
	case leaves:
		w.gone[m.life] = Left
		return
	case returns:
		w.backs--
		w.born(w.number[m.life])
		return
	case knocks:
		by = m.other
		out = w.nodes[by].Knock(w.number[m.life], uint64(firstLife+m.life), "")
	default:
		if m.what == silent {
			w.faults--
		}
		w.lost[m.life][m.other] = true
		w.lanes[m.other][m.life] = nil
		out = w.nodes[m.life].Lost(w.number[m.other], m.how)
	}
	if err != nil {
		w.wrong = err.Error()
	}
	for _, l := range out {
		to := w.lifeOf(by, l.To)
		if to == by || w.lost[by][to] {
			w.wrong = fmt.Sprintf("life %d sends %+v", by, l)
		}
		w.lanes[by][to] = append(slices.Clone(w.lanes[by][to]), l.Message)
	}
	w.enters(by)
}

// enters notes the epoch of a life. Those that live agree on it.
func (w *world) enters(life int) {
	e := w.nodes[life].Epoch()
	k, members := int(e.Number), fmt.Sprint(e.Seats)
	if k < len(w.been[life]) {
		return
	}
	been := slices.Clone(w.been[life])
	for len(been) < k {
		been = append(been, "")
	}
	w.been[life] = append(been, members)
	for i := range w.nodes { // a node gives up those that take no part
		if i != life && w.excludes(life, i) {
			w.lost[life][i], w.lanes[i][life] = true, nil
		}
	}
	for i, other := range w.been {
		if w.gone[i] == In && k < len(other) && other[k] != "" && other[k] != members {
			w.wrong = fmt.Sprintf("epoch %d is %v for life %d, and %v for life %d", k, members, life, other[k], i)
		}
	}
}

// over checks a world in which nothing is due: the nodes that are left are in one epoch, and hear
// its chair, who hears all of it.
func (w *world) over() {
	on := -1
	for i, n := range w.nodes {
		if w.gone[i] != In || n == nil {
			continue
		}
		if on < 0 {
			on = i
		}
		e, chair := n.Epoch(), w.lifeOf(i, n.chair())
		switch {
		case e.Number != w.nodes[on].Epoch().Number || chair != w.lifeOf(on, w.nodes[on].chair()):
			w.wrong = fmt.Sprintf("life %d goes on in epoch %d with chair %d, and life %d in epoch %d with chair %d",
				on, w.nodes[on].Epoch().Number, w.nodes[on].chair(), i, e.Number, chair)
		case !slices.Equal(w.nodes[chair].next(), e.Seats):
			w.wrong = fmt.Sprintf("life %d waits in epoch %d for life %d, who hears %v", i, e.Number, chair, w.nodes[chair].view)
		}
	}
	if on < 0 {
		return
	}
	waits := !w.nodes[w.lifeOf(on, w.nodes[on].chair())].settled() // for what was lost
	for i, n := range w.nodes {
		if w.gone[i] == In && n == nil && !waits {
			w.wrong = fmt.Sprintf("life %d is not let in", i)
		}
	}
}

// clone is a copy. Members are copied; slices of messages and seats never change.
func (w *world) clone() *world {
	c := *w
	c.gone, c.been = slices.Clone(w.gone), slices.Clone(w.been)
	c.nodes, c.lost, c.lanes = slices.Clone(w.nodes), slices.Clone(w.lost), slices.Clone(w.lanes)
	c.quiet, c.far = slices.Clone(w.quiet), slices.Clone(w.far)
	for i, n := range w.nodes {
		c.lost[i], c.lanes[i] = slices.Clone(w.lost[i]), slices.Clone(w.lanes[i])
		c.quiet[i] = slices.Clone(w.quiet[i])
		if n == nil {
			continue
		}
		m := *n
		m.view, m.asked, m.knocks = slices.Clone(n.view), slices.Clone(n.asked), slices.Clone(n.knocks)
		m.answers, m.agree = slices.Clone(n.answers), slices.Clone(n.agree)
		m.doubts, m.quiet, m.sure = slices.Clone(n.doubts), slices.Clone(n.quiet), c.sure(i)
		c.nodes[i] = &m
	}
	return &c
}

// key tells worlds apart.
func (w *world) key() string {
	b := []byte{byte(w.faults), byte(w.backs)}
	for i, n := range w.nodes {
		b = append(b, byte(w.number[i]), byte(w.gone[i]))
		b = appendBools(b, w.lost[i]...)
		b = appendBools(b, w.quiet[i]...)
		for j := range w.nodes {
			b = append(b, byte(len(w.lanes[i][j])))
			for _, m := range w.lanes[i][j] {
				b = appendMessage(b, m)
			}
		}
		b = append(b, byte(len(w.been[i])))
		for _, e := range w.been[i] {
			b = append(append(b, byte(len(e))), e...)
		}
		if n == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		for j := range n.view {
			b = append(b, byte(n.view[j]))
			if n.asked[j] != nil {
				b = appendMessage(append(b, 1), *n.asked[j])
			}
		}
		b = appendBools(appendBools(b, n.doubts...), n.quiet...)
		b = appendSeats(b, n.knocks)
		b = binary.AppendUvarint(b, n.epoch.Number)
		b = appendSeats(b, n.epoch.Seats)
		b = appendBallot(appendBallot(b, n.taken), n.best)
		b = appendSeats(appendSeats(b, n.seats), n.offer)
		b = binary.AppendUvarint(b, n.try)
		b = appendBools(b, n.offers, n.apart)
		b = appendBools(append(b, byte(len(n.answers))), n.answers...)
		b = appendBools(append(b, byte(len(n.agree))), n.agree...)
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
		b = append(b, byte(s.Life), byte(s.State), byte(s.Since))
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
