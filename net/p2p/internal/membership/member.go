package membership

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// Member is a node's part in the membership. One goroutine at a time uses it.
type Member struct {
	me      int
	life    uint64
	epoch   Epoch
	view    []State // by node: its state, as this node sees it
	sure    func(node int) bool
	doubts  []bool // nodes that have ended, and may have lost this one before
	quiet   []bool // nodes that have let go, since this one was in touch with them and gave them up
	apart   bool
	asked   []*Message // by node: an Ask of a node that is not this one's chair, yet
	joining []Seat     // new lives that want to come in; they are not In yet
	near    [][]uint64 // by node, and by member: the new life that the member hears

	// The members that this node has lost by silence, as it has told its chair in this epoch. If the chair is lost, an epoch follows.
	missing []Seat

	// The ballot and the seats that this node has accepted as the next epoch.
	taken Ballot
	seats []Seat // nil: nothing

	trial // the chair's
}

// New makes the part of node me. The epoch is the first one that it takes part in. sure reports
// whether a node, if it has ended by now, had not lost this one: this node was in touch with it, by its
// lease.
func New(me int, first Epoch, sure func(node int) bool) *Member {
	nodes := len(first.Seats)
	m := &Member{
		me: me, life: first.Seats[me].Life, view: make([]State, nodes), asked: make([]*Message, nodes), joining: make([]Seat, nodes),
		sure: sure, doubts: make([]bool, nodes), quiet: make([]bool, nodes), near: make([][]uint64, nodes),
	}
	for i := range m.near {
		m.near[i] = make([]uint64, nodes)
	}
	m.adopt(first)
	return m
}

// Epoch is the last one that this node knows of.
func (m *Member) Epoch() Epoch { return m.epoch }

// Apart reports whether this life must not go on, because it heard no quorum, or because the
// others go on without it. It stays so: see Past.
func (m *Member) Apart() bool { return m.apart }

// parts notes whether this node is apart.
func (m *Member) parts() bool {
	m.apart = m.apart || !m.epoch.Has(m.me) || m.epoch.Seats[m.me].Life != m.life || !m.quorum(m.hearing())
	return m.apart
}

func (m *Member) quorum(of []bool) bool { return m.epoch.quorum(of, m.gone) }

func (m *Member) all(of []bool) bool { return m.epoch.all(of, m.gone) }

// gone reports whether a node has ended or left, and had not lost this one before.
func (m *Member) gone(node int) bool { return m.view[node].certain() && !m.doubts[node] }

// chair is the most senior member that this node hears. It hears itself.
func (m *Member) chair() int { return m.epoch.first(m.hears) }

func (m *Member) hears(node int) bool { return m.epoch.Has(node) && m.view[node] == In }

// Lost says that this node has lost another one, after all that came from it.
func (m *Member) Lost(node int, how State) []Letter {
	m.learn(node, how, m.sure(node))
	return m.moved()
}

// Quiet says that a node that this one has lost has let go: it is sure of this node no more.
func (m *Member) Quiet(node int) []Letter {
	m.quiet[node] = true
	return m.moved()
}

// learn notes how a node went, unless this node has lost it before. A node that leaves says so to those that it
// has not lost.
func (m *Member) learn(node int, how State, sure bool) {
	if m.view[node] == In {
		m.view[node], m.asked[node], m.doubts[node] = how, nil, how != Left && !sure
	}
}

// believe notes which nodes have ended. A node that leaves says so itself, behind everything else: a list of a gathering may be on its way.
func (m *Member) believe(gone []State) {
	for i, s := range gone {
		if s != Absent && s != Left {
			m.learn(i, s, m.sure(i))
		}
	}
}

// knows is what this node knows for certain, for others.
func (m *Member) knows() []State {
	gone := make([]State, len(m.view))
	for i, s := range m.view {
		if s.certain() {
			gone[i] = s
		}
	}
	return gone
}

// moved does what follows when the view or the epoch has changed.
func (m *Member) moved() []Letter {
	if m.parts() {
		return nil
	}
	c := m.chair()
	if c == m.me {
		return m.begin()
	}
	var out []Letter
	if heard := m.heard(); someLife(heard) {
		out = append(out, Letter{c, Message{Kind: Join, Number: m.epoch.Number, Seats: heard}})
	}
	if silent := m.silent(c); someLife(silent) && !slices.Equal(silent, m.missing) {
		m.missing = silent
		out = append(out, Letter{c, Message{Kind: Miss, Number: m.epoch.Number, Seats: silent}})
	}
	if ask := m.asked[c]; ask != nil {
		m.asked[c] = nil
		out = append(out, m.answer(c, ask)...)
	}
	return out
}

// heard are the new lives that this node hears.
func (m *Member) heard() []Seat {
	heard := make([]Seat, len(m.view))
	for i, s := range m.joining {
		if m.near[i][m.me] == s.Life {
			heard[i] = s
		}
	}
	return heard
}

// silent are the members that this node has lost by silence, and that its chair may hear: a chair hears no
// member that is more senior.
func (m *Member) silent(chair int) []Seat {
	silent := make([]Seat, len(m.view))
	for i, s := range m.epoch.Seats {
		if s.State == In && m.view[i] == Silent && m.epoch.compare(i, chair) > 0 {
			silent[i] = Seat{Life: s.Life}
		}
	}
	return silent
}

func someLife(seats []Seat) bool {
	return slices.ContainsFunc(seats, func(s Seat) bool { return s.Life > 0 })
}

// missed takes the members that another one has lost by silence. Two members that do not hear each other
// cannot both stay: the chair, if it hears both, loses the junior one, as long as it has a quorum without it.
func (m *Member) missed(by int, seats []Seat) []Letter {
	if m.chair() != m.me {
		return nil
	}
	for i, s := range seats {
		if s.Life != m.epoch.Seats[i].Life || !m.hears(i) || !m.hears(by) {
			continue
		}
		junior := by
		if m.epoch.compare(i, by) > 0 {
			junior = i
		}
		heard := m.hearing()
		if heard[junior] = false; m.quorum(heard) {
			invariant.Sometimes(true, "the chair loses a member for another one")
			m.learn(junior, Silent, false)
		}
	}
	return m.moved()
}

// hearing are the members that this node hears.
func (m *Member) hearing() []bool {
	heard := make([]bool, len(m.view))
	for i := range heard {
		heard[i] = m.hears(i)
	}
	return heard
}

// Join says that this node hears a new life of a node, which wants to come in. It does when all that is
// lost is agreed on, and all members hear it.
func (m *Member) Join(node int, life uint64, address string) []Letter {
	joining := make([]Seat, len(m.view))
	joining[node] = Seat{Life: life, Address: address}
	return m.noteJoining(m.me, joining)
}

// noteJoining notes new lives, and which member hears them. A life that is known changes nothing.
func (m *Member) noteJoining(by int, seats []Seat) []Letter {
	news := false
	for i, s := range seats {
		if s.Life <= m.epoch.Seats[i].Life || s.Life < m.joining[i].Life || m.near[i][by] >= s.Life {
			continue
		}
		m.joining[i] = Seat{Life: s.Life, Address: s.Address}
		m.near[i][by], news = s.Life, true
	}
	if !news {
		return nil
	}
	return m.moved()
}

// Step takes a message, and returns those to send. Messages of nodes that are lost, or take no
// part, say nothing.
func (m *Member) Step(from int, in Message) ([]Letter, error) {
	if err := m.wrong(from, in); err != nil {
		return nil, err
	}
	if !m.hears(from) {
		return nil, nil
	}
	var out []Letter
	switch in.Kind {
	case Ask:
		out = m.ask(from, in)
	case Answer:
		out = m.answered(from, in)
	case Offer:
		out = m.offered(from, in)
	case Accept:
		out = m.accepted(from, in)
	case Enter:
		out = m.enter(Epoch{in.Number, in.Seats})
	case Join:
		out = m.noteJoining(from, in.Seats)
	case Miss:
		out = m.missed(from, in.Seats)
	}
	return out, nil
}

// wrong returns what no correct node sends.
func (m *Member) wrong(from int, in Message) error {
	if err := in.check(len(m.view)); err != nil {
		return err
	}
	switch in.Kind {
	case Ask, Offer:
		if in.Ballot.Chair != from {
			return fmt.Errorf("%w: node %d asks for chair %d", ErrMessage, from, in.Ballot.Chair)
		}
	case Answer, Accept:
		if in.Ballot.Chair != m.me {
			return fmt.Errorf("%w: node %d answers to chair %d", ErrMessage, from, in.Ballot.Chair)
		}
	}
	if len(in.Gone) > 0 && in.Gone[m.me] != Absent {
		return fmt.Errorf("%w: node %d says that this node has ended", ErrMessage, from)
	}
	return nil
}

// ask takes an Ask. It waits if this node still hears a more senior chair.
func (m *Member) ask(from int, in Message) []Letter {
	invariant.Sometimes(in.Number-1 > m.epoch.Number, "a chair is ahead by an epoch")
	invariant.Sometimes(m.chair() != from, "a chair asks before its predecessor is lost here")
	out := m.enter(Epoch{in.Number - 1, in.Seats})
	if last := m.asked[from]; last == nil || last.before(in) {
		m.asked[from] = &in
	}
	if in.Number > m.epoch.Number {
		m.believe(in.Gone)
	}
	return append(out, m.moved()...)
}

// answer tells the chair what this node has accepted, or that the epoch is decided.
func (m *Member) answer(chair int, ask *Message) []Letter {
	if ask.Number <= m.epoch.Number {
		invariant.Sometimes(true, "a chair asks for an epoch that is decided")
		return []Letter{{chair, Message{Kind: Enter, Number: m.epoch.Number, Seats: m.epoch.Seats}}}
	}
	return []Letter{{chair, Message{Kind: Answer, Number: ask.Number, Ballot: ask.Ballot, Taken: m.taken, Seats: m.seats}}}
}

// offered takes an Offer. There is no promise as in Paxos to take no lower ballot: chairs before
// this one are lost here, and this one counts only its last try.
func (m *Member) offered(from int, in Message) []Letter {
	if from != m.chair() || in.Number != m.epoch.Number+1 || m.epoch.later(m.taken, in.Ballot) {
		return nil
	}
	m.taken, m.seats = in.Ballot, in.Seats
	return []Letter{{from, Message{Kind: Accept, Number: in.Number, Ballot: in.Ballot}}}
}

// enter goes on to an epoch that is decided. All members tell the lives that are new in it: the
// chair may have ended.
func (m *Member) enter(e Epoch) (out []Letter) {
	if e.Number <= m.epoch.Number {
		return nil
	}
	before := m.epoch.Seats
	m.adopt(e)
	if m.parts() {
		return nil
	}
	for i, s := range e.Seats {
		if s.State == In && s.Life != before[i].Life {
			out = append(out, Letter{i, Message{Kind: Enter, Number: e.Number, Seats: e.Seats}})
		}
	}
	return append(out, m.moved()...)
}

// adopt notes an epoch. Messages about the next one were sent before.
func (m *Member) adopt(e Epoch) {
	before := m.epoch.Seats
	m.epoch = e
	m.taken, m.seats, m.trial, m.missing = Ballot{}, nil, trial{}, nil
	for i, s := range e.Seats {
		if before == nil || before[i].Life != s.Life {
			m.view[i], m.asked[i], m.doubts[i] = s.State, nil, false
			m.quiet[i] = before == nil && s.State == Silent // a chair has seen to those that were lost before this one came in
			for k := range m.near {
				m.near[k][i] = 0
			}
		}
		if m.joining[i].Life <= s.Life {
			m.joining[i] = Seat{}
		}
	}
}

// Chair is the member that decides on the next epoch, as far as this node knows. It waits for that one, so it must be in touch with it.
func (m *Member) Chair() int { return m.chair() }
