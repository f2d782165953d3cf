package membership

import (
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// trial is a chair's try to make the next epoch. No other chair asks for what this one has
// accepted in it: one that is more senior is lost, and the others have lost this one.
type trial struct {
	try     uint64
	answers []bool // by node: it has answered; in the end, accepted. nil if there is no trial
	best    Ballot // the latest ballot that one of them has accepted
	agree   []bool // by node: it has accepted best
	offer   []Seat // the seats of best; then the seats that the chair offers to a quorum
	offers  bool
}

// begin asks all members, unless all of them are there. An earlier try does not count:
// an Ask names the nodes that have ended, and they may be more now.
func (m *Member) begin() []Letter {
	if slices.Equal(m.next(), m.epoch.Seats) {
		return nil
	}
	m.trial = trial{try: m.try + 1, answers: make([]bool, len(m.view)), agree: make([]bool, len(m.view))}
	out := m.toAll(Message{Kind: Ask, Number: m.epoch.Number + 1, Ballot: m.ballot(), Seats: m.epoch.Seats, Gone: m.knows()})
	return append(out, m.answered(m.me, Message{Number: m.epoch.Number + 1, Ballot: m.ballot(), Taken: m.taken, Seats: m.seats})...)
}

func (m *Member) ballot() Ballot { return Ballot{Chair: m.me, Try: m.try} }

// next is the epoch that this node would make. New lives come in when no member is lost: all
// must accept them.
func (m *Member) next() []Seat {
	seats := slices.Clone(m.epoch.Seats)
	for i := range seats {
		if seats[i].State == In {
			seats[i].State = m.view[i]
		}
	}
	if !slices.Equal(seats, m.epoch.Seats) {
		return seats
	}
	if !m.settled() {
		return seats
	}
	for i, s := range m.joining {
		if s.Life > 0 && !m.epoch.Has(i) && m.known(i) {
			seats[i] = Seat{Life: s.Life, Address: s.Address, State: In, Since: m.epoch.Number + 1}
		}
	}
	return seats
}

// settled reports whether each life that was lost, and may run, has let go. Before that it may
// think that it is the only one left.
func (m *Member) settled() bool {
	for i, s := range m.epoch.Seats {
		if s.State == Silent && !m.quiet[i] && !m.view[i].certain() {
			return false
		}
	}
	return true
}

// known reports whether all members hear the new life of a node. Without this, a life that one of them cannot
// reach would come in and be lost again, for ever.
func (m *Member) known(node int) bool {
	for i := range m.view {
		if m.epoch.Has(i) && m.near[node][i] != m.joining[node].Life {
			return false
		}
	}
	return true
}

// admits reports whether new lives are in what would be the next epoch.
func (m *Member) admits(seats []Seat) bool {
	for i, s := range seats {
		if s.Life != m.epoch.Seats[i].Life {
			return true
		}
	}
	return false
}

// toAll sends a message to all other members that this node hears.
func (m *Member) toAll(what Message) (out []Letter) {
	for i := range m.view {
		if i != m.me && m.hears(i) {
			out = append(out, Letter{i, what})
		}
	}
	return out
}

// answered takes an Answer. A quorum of them lets the chair offer the next epoch.
func (m *Member) answered(from int, in Message) []Letter {
	if !m.counts(in) || m.offers {
		return nil
	}
	m.answers[from] = true
	if m.epoch.later(in.Taken, m.best) {
		m.best, m.offer = in.Taken, in.Seats
		clear(m.agree)
	}
	m.agree[from] = in.Taken == m.best
	offer := m.offer
	if offer == nil {
		offer = m.next()
	}
	if !m.quorum(m.answers) || m.admits(offer) && m.waits() {
		return nil
	}
	invariant.Sometimes(m.offer != nil, "a chair finishes the epoch of another one")
	if m.offer != nil && m.admits(offer) {
		return m.admitted()
	}
	return m.offering(offer)
}

// waits reports whether a member that this node hears has not answered.
func (m *Member) waits() bool {
	for i := range m.view {
		if m.hears(i) && !m.answers[i] {
			return true
		}
	}
	return false
}

// admitted looks at new lives that another try wants to let in. They may be in if all members have
// accepted them. Then this chair lets them in. If a member has not, they are not.
func (m *Member) admitted() []Letter {
	for i := range m.view {
		if m.hears(i) && !m.agree[i] {
			invariant.Sometimes(true, "new lives are not let in")
			return m.offering(m.next())
		}
	}
	if !m.all(m.agree) { // a member is silent, and no other knows
		invariant.Sometimes(true, "nobody knows whether new lives are in")
		m.apart = true
		return nil
	}
	invariant.Sometimes(true, "a chair lets in the new lives of another one")
	return m.decides()
}

// offering offers an epoch.
func (m *Member) offering(seats []Seat) []Letter {
	m.offer, m.offers = seats, true
	m.answers = make([]bool, len(m.view))
	out := m.toAll(Message{Kind: Offer, Number: m.epoch.Number + 1, Ballot: m.ballot(), Seats: m.offer})
	return append(out, m.accepted(m.me, Message{Number: m.epoch.Number + 1, Ballot: m.ballot()})...)
}

// accepted takes an Accept. A quorum of them decides, and all of them on new lives.
func (m *Member) accepted(from int, in Message) []Letter {
	if !m.counts(in) || !m.offers {
		return nil
	}
	m.answers[from] = true
	if !m.quorum(m.answers) || m.admits(m.offer) && !m.all(m.answers) {
		return nil
	}
	return m.decides()
}

func (m *Member) decides() []Letter {
	e := Epoch{m.epoch.Number + 1, m.offer}
	out := m.toAll(Message{Kind: Enter, Number: e.Number, Seats: e.Seats})
	return append(out, m.enter(e)...)
}

// counts reports whether a message is about the try that is under way.
func (m *Member) counts(in Message) bool {
	return in.Number == m.epoch.Number+1 && in.Ballot == m.ballot()
}
