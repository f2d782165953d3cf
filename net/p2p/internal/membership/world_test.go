package membership

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// world is some nodes, what is under way between them, and what may still go wrong. It is
// played move by move: by TestEverySchedule in every way, and by TestSeeds at random.
//
// A node that has ended may come back, as another life. Lives have numbers of their own.
type world struct {
	number []int         // [life]: the node
	nodes  []*Member     // [life]: nil until it is let in
	parked []*Parked     // [life]: what it is until then
	asked  [][]*Message  // [i][j]: what life i, which is parked, has asked life j last
	told   [][]*Message  // [i][j]: what j has answered
	cut    [][]bool      // by node: no message gets through
	parks  int           // lives that may go on as another life when they are apart
	cuts   int           // links that may be cut
	rounds uint64        // of parked lives; 0: any
	gone   []State       // [life]: Ended or Left, or In
	lost   [][]bool      // [i][j]: life i has lost life j
	quiet  [][]bool      // [i][j]: and life j has let go since
	mute   []bool        // [life]: it was silent for longer than a lease before it parked
	far    [][]bool      // [i][j]: life i was never in touch with life j
	doubts bool          // lives are sure of no end
	lanes  [][][]Message // [i][j]: from life i to life j
	faults int           // the faults that may still happen
	backs  int           // lives that may come back
	loose  bool          // messages overtake each other
	// partings: members leave. slots: parked lives ask in steps.
	partings, slots bool
	stays           bool       // links stay cut
	been            [][]string // [i][k]: the members of epoch k, if life i has entered it
	wrong           string
}

// firstLife is the life of node 0. The lives of a world follow.
const firstLife = 100

// newWorld has so many nodes. The last ones have left before.
func newWorld(nodes, left, faults int) *world {
	w := &world{faults: faults}
	w.cut = make([][]bool, nodes)
	for i := range w.cut {
		w.cut[i] = make([]bool, nodes)
	}
	first := whole(nodes)
	for i := range nodes {
		first.Seats[i].Life = uint64(firstLife + i)
		w.start(i, nil)
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

// parkAll has all lives that are members be apart, and park.
func (w *world) parkAll() {
	for i, n := range w.nodes {
		if w.gone[i] == In && n != nil {
			n.apart = true
			w.parks++
			w.play(move{what: parks, life: i})
		}
	}
}

// sure is how life i knows whether another node, if it has ended, had not lost it. It may, unless the
// other has given it up for longer than the lease.
func (w *world) sure(i int) func(node int) bool {
	return func(node int) bool {
		j := w.lifeOf(i, node)
		return !w.doubts && !w.far[i][j] && !w.quiet[j][i] && !w.mute[j]
	}
}

// start adds a life. A process that has just started has no part yet, and knows nothing.
func (w *world) start(node int, part *Parked) {
	for i := range w.number {
		w.asked[i], w.told[i] = append(slices.Clone(w.asked[i]), nil), append(slices.Clone(w.told[i]), nil)
	}
	w.asked, w.told = append(w.asked, make([]*Message, len(w.number)+1)), append(w.told, make([]*Message, len(w.number)+1))
	if part == nil {
		part = NewParked(node, len(w.cut), Seat{Life: uint64(firstLife + len(w.number))}, Past{})
	}
	w.parked = append(slices.Clone(w.parked), part)
	for i := range w.number {
		w.lost[i] = append(slices.Clone(w.lost[i]), false)
		w.quiet[i] = append(slices.Clone(w.quiet[i]), false)
		w.far[i] = append(slices.Clone(w.far[i]), false)
		w.lanes[i] = append(slices.Clone(w.lanes[i]), nil)
	}
	w.number = append(slices.Clone(w.number), node)
	w.nodes = append(w.nodes, nil)
	w.gone = append(w.gone, In)
	w.mute = append(w.mute, false)
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

// A what is a kind of move.
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
	joining             // life asks other to be let in
	parks               // life is apart, and lets go of everything: its process goes on as another one
	again               // life never will be in: its process goes on as another one
	sends               // life asks other, and both are parked
	hears               // other gets what life has asked
	answers             // life gets what other has answered
	meets               // all three
	turns               // life does what follows
	tries               // life asks for votes
	cuts                // the link between two nodes is cut
	heals               // it is not any more
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
		"%d hears nothing of %d", "%d knows that %d has let go", "%d comes back", "%d asks %d to let it in",
		"%d parks", "%d comes again", "%d sends to %d", "what %d has sent comes to %d", "%d has the answer of %d", "%d meets %d",
		"%d turns", "%d tries", "nodes %d and %d are cut off", "nodes %d and %d are not cut off",
	}
	if slices.Contains([]what{dies, leaves, returns, parks, again, turns, tries}, m.what) {
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
			how := leaves
			if w.parks > 0 {
				how = parks
			}
			due = append(due, move{what: how, life: i})
		} else if w.faults > 0 && w.partings {
			faults = append(faults, move{what: leaves, life: i})
		}
		for j := range w.nodes {
			if w.lets(i, j) {
				due = append(due, move{what: quiet, life: i, other: j})
			}
			if i == j || !w.knows(i, j) {
				continue
			}
			if w.away(i, j) {
				due = append(due, move{what: silent, life: i, other: j, how: Silent})
				continue
			}
			for k := range w.lanes[j][i] {
				if k == 0 || w.loose {
					due = append(due, move{what: arrives, life: i, other: j, at: k})
				}
			}
			switch {
			case w.gone[j] != In:
				how := w.gone[j]
				if w.nodes[j] == nil || w.excludes(j, i) { // it says no goodbye to this one
					how = Ended
				}
				due = append(due, move{what: ends, life: i, other: j, how: how})
			case w.nodes[j] != nil && w.excludes(j, i):
				due = append(due, move{what: refused, life: i, other: j, how: Silent})
			}
			if w.faults > 0 {
				faults = append(faults, move{what: silent, life: i, other: j, how: Silent})
			}
		}
	}
	for a := range w.cut {
		for b := range a {
			if w.cut[a][b] && !w.stays {
				due = append(due, move{what: heals, life: a, other: b})
			} else if !w.cut[a][b] && w.cuts > 0 {
				faults = append(faults, move{what: cuts, life: a, other: b})
			}
		}
	}
	return due, faults
}

// away reports whether the link between two lives is cut.
func (w *world) away(i, j int) bool { return w.cut[w.number[i]][w.number[j]] }

// end is the end of a life.
func (w *world) end(life int, how State) {
	w.gone[life] = how
	w.asked[life], w.told[life] = make([]*Message, len(w.number)), make([]*Message, len(w.number))
}

// lets reports whether life j, which life i was in touch with and has given up, may be known to have let
// go.
func (w *world) lets(i, j int) bool {
	if w.backs == 0 && w.parks == 0 && len(w.number) == len(w.nodes[i].view) { // it does not matter where no life comes in
		return false
	}
	return w.lost[i][j] && !w.quiet[i][j] && w.lifeOf(i, w.number[j]) == j && w.nodes[i].epoch.Seats[w.number[j]].State == Silent
}

// outside are the moves of a life that is not let in.
func (w *world) outside(i int) (due []move) {
	part := w.parked[i]
	if part.Out() {
		return []move{{what: again, life: i}}
	}
	for j, n := range w.nodes {
		if j == i || w.gone[j] != In || w.away(i, j) {
			continue
		}
		if n == nil {
			if w.number[i] != w.number[j] && (part.past.Life != 0 || w.parked[j].past.Life != 0) {
				due = append(due, w.meeting(i, j)...)
			}
			continue
		}
		if life := uint64(firstLife + i); n.near[w.number[i]][w.number[j]] < life && n.epoch.Seats[w.number[i]].Life < life || n.epoch.Number > part.Epoch().Number {
			due = append(due, move{what: joining, life: i, other: j})
		}
		for k, m := range w.lanes[j][i] {
			if m.Kind == Enter {
				due = append(due, move{what: arrives, life: i, other: j, at: k})
			}
		}
	}
	if part.turn != follows {
		due = append(due, move{what: turns, life: i})
	} else if part.votes() && (w.rounds == 0 || part.promised.Round < w.rounds) {
		due = append(due, move{what: tries, life: i})
	}
	return due
}

// meeting are the moves of two lives that are parked.
func (w *world) meeting(i, j int) (due []move) {
	if !w.slots {
		return []move{{what: meets, life: i, other: j}, {what: sends, life: i, other: j}}
	}
	due = append(due, move{what: sends, life: i, other: j})
	if w.asked[i][j] != nil {
		due = append(due, move{what: hears, life: i, other: j})
	}
	if w.told[i][j] != nil {
		due = append(due, move{what: answers, life: i, other: j})
	}
	return due
}

// meet plays a step of what a parked life asks another one. Without slots, an answer is lost or not.
func (w *world) meet(m move) {
	i, j := m.life, m.other
	asker, other := w.parked[i], w.parked[j]
	if m.what == sends && w.slots {
		out := asker.Says()
		w.asked[i] = slices.Clone(w.asked[i])
		w.asked[i][j] = &out
		return
	}
	if m.what == answers {
		in := w.told[i][j]
		w.told[i] = slices.Clone(w.told[i])
		w.told[i][j] = nil
		asker.Hears(w.number[j], *in)
		return
	}
	said := asker.Says()
	if m.what == hears {
		said = *w.asked[i][j]
		w.asked[i] = slices.Clone(w.asked[i])
		w.asked[i][j] = nil
	}
	out, err := other.Answers(w.number[i], said)
	if err != nil {
		w.wrong = err.Error()
	}
	switch m.what {
	case hears:
		w.told[i] = slices.Clone(w.told[i])
		w.told[i][j] = &out
	case meets:
		asker.Hears(w.number[j], out)
	}
}

// begins has each parked life that is in an epoch by now take part. One that has decided on it tells the others.
func (w *world) begins(decided int) {
	for i, part := range w.parked {
		if w.gone[i] != In || w.nodes[i] != nil || !part.In() {
			continue
		}
		e := part.Epoch()
		w.nodes[i] = New(w.number[i], e, w.sure(i))
		for k, s := range e.Seats {
			if j := int(s.Life) - firstLife; i == decided && s.State == In && k != w.number[i] {
				m := Message{Kind: Enter, Number: e.Number, Seats: e.Seats}
				w.lanes[i][j] = append(slices.Clone(w.lanes[i][j]), m)
			}
		}
		w.enters(i)
	}
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
			w.parked[m.life].Hears(w.number[m.other], in)
			w.begins(-1)
			return
		}
	case sends, hears, answers, meets:
		w.meet(m)
		w.begins(-1)
		return
	case turns:
		w.parked[m.life].Turns()
		w.begins(m.life)
		return
	case tries:
		w.parked[m.life].Tries()
		return
	case cuts, heals:
		if m.what == cuts {
			w.cuts--
		}
		w.cut[m.life][m.other], w.cut[m.other][m.life] = m.what == cuts, m.what == cuts
		return
	case parks, again:
		part := w.parked[m.life]
		self := Seat{Life: uint64(firstLife + len(w.number))}
		if m.what == parks {
			w.parks--
			for j := range w.number { // each other life knows by its lease that this one lets go
				w.lost[m.life][j] = j != m.life
				w.lanes[j][m.life] = nil
			}
			w.mute[m.life] = true
			part = NewParked(w.number[m.life], len(w.cut), self, w.nodes[m.life].Past())
		}
		c := *part
		c.self = self
		w.end(m.life, Ended)
		w.start(w.number[m.life], &c)
		return
	case quiet:
		w.quiet[m.life][m.other] = true
		out = w.nodes[m.life].Quiet(w.number[m.other])
	case dies:
		w.faults--
		w.end(m.life, Ended)
		return
	case leaves:
		if !w.nodes[m.life].Apart() {
			w.faults--
		}
		w.end(m.life, Left)
		return
	case returns:
		w.backs--
		w.start(w.number[m.life], nil)
		return
	case joining:
		by = m.other
		n := w.nodes[by]
		out = n.Join(w.number[m.life], uint64(firstLife+m.life), "")
		w.parked[m.life].Hears(w.number[by], Message{Kind: Enter, Number: n.epoch.Number, Seats: n.epoch.Seats})
		w.begins(-1)
	default:
		if m.what == silent && !w.away(m.life, m.other) {
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
// its chair, who hears all of it. A life is not let in only while a member cannot reach it, or may wait for a lease.
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
		w.allParked()
		return
	}
	e := w.nodes[on].Epoch()
	chair := w.nodes[w.lifeOf(on, w.nodes[on].chair())]
	for i, n := range w.nodes { // the chair keeps two members that do not hear each other only where it needs both
		if w.gone[i] != In || n == nil {
			continue
		}
		for _, j := range e.Members() {
			heard := chair.hearing()
			if heard[w.number[i]], heard[j] = false, false; n.view[j] != In && chair.quorum(heard) {
				w.wrong = fmt.Sprintf("life %d does not hear node %d, and both are in %+v", i, j, e)
			}
		}
	}
	waits := !w.nodes[w.lifeOf(on, w.nodes[on].chair())].settled() // for what was lost
	for i, n := range w.nodes {
		if w.gone[i] != In || n != nil || waits {
			continue
		}
		near := true
		for _, j := range e.Members() {
			near = near && !w.cut[w.number[i]][j]
		}
		if near {
			w.wrong = fmt.Sprintf("life %d is not let in", i)
		}
	}
}

// allParked checks a world without a member: the lives that are left must be too few for the last epoch. Those
// that have ended are gone for certain only for lives that were in touch.
func (w *world) allParked() {
	var last Epoch
	for i, p := range w.parked {
		if w.gone[i] == In && p.Epoch().Number > last.Number {
			last = p.Epoch()
		}
	}
	there := make([]bool, len(w.cut))
	for i, p := range w.parked {
		if w.gone[i] == In && last.Seats != nil && p.votes() {
			there[w.number[i]] = true
		}
		for j := range w.parked {
			if w.gone[i] == In && w.gone[j] == In && w.away(i, j) {
				return
			}
		}
	}
	gone := func(node int) bool { // one of those that vote knows so
		for i, p := range w.parked {
			if w.gone[i] == In && last.Seats != nil && p.votes() && p.past.Gone[node] != Absent {
				return true
			}
		}
		return false
	}
	if last.Seats != nil && slices.Contains(there, true) && last.quorum(there, gone) {
		w.wrong = fmt.Sprintf("nobody is in an epoch after %+v, and there are %v", last, there)
	}
}

// calm has no more faults, and all links work that do not stay cut. Parked lives ask each other until nothing changes.
func (w *world) calm(r *rand.Rand) (played []move) {
	w.rounds, w.slots = 0, false
	for a := range w.cut {
		for b := range w.cut[a] {
			w.cut[a][b] = w.cut[a][b] && w.stays
		}
	}
	for idle := 0; idle < 40 && w.wrong == ""; {
		due, _ := w.moves()
		var asking []move
		certain := slices.DeleteFunc(slices.Clone(due), func(m move) bool {
			is := m.what == meets || m.what == sends || m.what == turns || m.what == tries
			if is && m.what != sends && (m.what != tries || r.IntN(8) == 0) {
				asking = append(asking, m)
			}
			return is
		})
		if len(certain) > 0 {
			m := certain[r.IntN(len(certain))]
			played = append(played, m)
			w.play(m)
			idle = 0
			continue
		}
		if len(due) == 0 && !slices.ContainsFunc(w.parked, (*Parked).votes) {
			break
		}
		idle++
		for _, m := range asking {
			meet := m.what == meets && w.nodes[m.other] == nil && w.gone[m.other] == In
			if w.gone[m.life] == In && w.nodes[m.life] == nil && (meet || m.what == tries) {
				played = append(played, m)
				w.play(m)
			}
		}
		for i := range w.parked {
			if w.gone[i] == In && w.nodes[i] == nil && w.parked[i].turn != follows {
				played = append(played, move{what: turns, life: i})
				w.play(move{what: turns, life: i})
			}
		}
	}
	if w.wrong == "" {
		w.over()
	}
	return played
}

// clone is a copy. Members are copied; slices of messages and seats never change.
func (w *world) clone() *world {
	c := *w
	c.gone, c.been, c.mute = slices.Clone(w.gone), slices.Clone(w.been), slices.Clone(w.mute)
	c.nodes, c.lost, c.lanes = slices.Clone(w.nodes), slices.Clone(w.lost), slices.Clone(w.lanes)
	c.quiet, c.far = slices.Clone(w.quiet), slices.Clone(w.far)
	c.parked, c.asked, c.told = slices.Clone(w.parked), slices.Clone(w.asked), slices.Clone(w.told)
	c.cut = make([][]bool, len(w.cut))
	for i := range w.cut {
		c.cut[i] = slices.Clone(w.cut[i])
	}
	for i, p := range w.parked {
		part := *p
		part.answers, part.lives, part.gone = slices.Clone(p.answers), slices.Clone(p.lives), slices.Clone(p.gone)
		c.parked[i] = &part
	}
	for i, n := range w.nodes {
		c.lost[i], c.lanes[i] = slices.Clone(w.lost[i]), slices.Clone(w.lanes[i])
		c.quiet[i] = slices.Clone(w.quiet[i])
		if n == nil {
			continue
		}
		m := *n
		m.view, m.asked, m.joining = slices.Clone(n.view), slices.Clone(n.asked), slices.Clone(n.joining)
		m.answers, m.agree = slices.Clone(n.answers), slices.Clone(n.agree)
		m.doubts, m.quiet, m.sure = slices.Clone(n.doubts), slices.Clone(n.quiet), c.sure(i)
		m.near = make([][]uint64, len(n.near))
		for j := range n.near {
			m.near[j] = slices.Clone(n.near[j])
		}
		c.nodes[i] = &m
	}
	return &c
}

// key tells worlds apart.
func (w *world) key() string {
	b := []byte{byte(w.faults), byte(w.backs), byte(w.parks), byte(w.cuts)}
	for i := range w.cut {
		b = appendBools(b, w.cut[i]...)
	}
	for i, n := range w.nodes {
		b = appendBools(append(b, byte(w.number[i]), byte(w.gone[i])), w.mute[i])
		b = appendBools(b, w.lost[i]...)
		b = appendBools(b, w.quiet[i]...)
		for j := range w.nodes {
			b = append(b, byte(len(w.lanes[i][j])))
			for _, m := range w.lanes[i][j] {
				b = appendMessage(b, m)
			}
		}
		for j := range w.asked[i] {
			for _, m := range []*Message{w.asked[i][j], w.told[i][j]} {
				if b = append(b, 0); m != nil {
					b = appendMessage(append(b, 1), *m)
				}
			}
		}
		b = append(b, byte(len(w.been[i])))
		for _, e := range w.been[i] {
			b = append(append(b, byte(len(e))), e...)
		}
		if n == nil && w.gone[i] == In {
			b = appendParked(append(b, 2), w.parked[i])
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
		b = appendSeats(appendSeats(b, n.joining), n.missing)
		for _, near := range n.near {
			for _, life := range near {
				b = append(b, byte(life))
			}
		}
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

func appendParked(b []byte, p *Parked) []byte {
	b = append(b, byte(p.self.Life), byte(p.past.Life), byte(p.past.Epoch.Number), byte(p.turn))
	for _, s := range p.past.Gone {
		b = append(b, byte(s))
	}
	b = appendSeats(appendSeats(b, p.past.Epoch.Seats), p.past.Accepted)
	b = appendBools(appendBallot(appendBallot(b, p.past.Taken), p.promised), p.hearsay, p.before == p.promised)
	if p.turn == follows {
		return b
	}
	b = appendBallot(appendBallot(b, p.best), p.ballot)
	b = appendSeats(appendSeats(appendBools(b, p.answers...), p.offer), p.lives)
	for _, s := range p.gone {
		b = append(b, byte(s))
	}
	return b
}

func appendBallot(b []byte, of Ballot) []byte {
	return append(b, byte(of.Chair), byte(of.Try), byte(of.Round))
}

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
