package membership

import (
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// trial is a chair's try to make the next epoch. No other chair asks for what this one has
// accepted in it: one that is higher has lost it, and one that is lower is lost.
type trial struct {
	try     uint64
	answers []bool // of whom; in the end Accepts
	best    Ballot // the latest that one of them has accepted
	offer   []Seat // that one's; what is offered once they are a quorum
	offers  bool
}

// begin asks all members, unless all of them are there. What was tried before does not count:
// an Ask names the nodes that have ended, and they may be more now.
func (m *Member) begin() []Letter {
	if slices.Equal(m.next(), m.epoch.Seats) {
		return nil
	}
	m.trial = trial{try: m.try + 1, answers: make([]bool, len(m.view))}
	out := m.toAll(Message{Kind: Ask, Number: m.epoch.Number + 1, Ballot: m.ballot(), Seats: m.epoch.Seats, Gone: m.knows()})
	return append(out, m.answered(m.me, Message{Number: m.epoch.Number + 1, Ballot: m.ballot(), Taken: m.taken, Seats: m.seats})...)
}

func (m *Member) ballot() Ballot { return Ballot{m.me, m.try} }

// next is the epoch that this node would make.
func (m *Member) next() []Seat {
	seats := slices.Clone(m.epoch.Seats)
	for i := range seats {
		if seats[i].State == In {
			seats[i].State = m.view[i]
		}
	}
	return seats
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
	if m.best.compare(in.Taken) < 0 {
		m.best, m.offer = in.Taken, in.Seats
	}
	if !m.quorum(m.answers) {
		return nil
	}
	invariant.Sometimes(m.offer != nil, "a chair finishes the epoch of another one")
	if m.offer == nil {
		m.offer = m.next()
	}
	m.offers = true
	m.answers = make([]bool, len(m.view))
	out := m.toAll(Message{Kind: Offer, Number: m.epoch.Number + 1, Ballot: m.ballot(), Seats: m.offer})
	return append(out, m.accepted(m.me, Message{Number: m.epoch.Number + 1, Ballot: m.ballot()})...)
}

// accepted takes an Accept. A quorum of them decides.
func (m *Member) accepted(from int, in Message) []Letter {
	if !m.counts(in) || !m.offers {
		return nil
	}
	m.answers[from] = true
	if !m.quorum(m.answers) {
		return nil
	}
	e := Epoch{m.epoch.Number + 1, m.offer}
	out := m.toAll(Message{Kind: Enter, Number: e.Number, Seats: e.Seats})
	return append(out, m.enter(e)...)
}

// counts reports whether a message is about the try that is under way.
func (m *Member) counts(in Message) bool {
	return in.Number == m.epoch.Number+1 && in.Ballot == m.ballot()
}
