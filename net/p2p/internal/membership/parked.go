package membership

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// A life that is apart lets go of everything, and its process goes on as another life. The new life is parked: it is no
// member of an epoch, and it knows what the life before knew. It asks each node that it can reach.
//
//	parked ──Join──▶ a member      lets it in as any other new life
//	       ──Join──▶ one more      each tells the other its last epoch
//	       ──Ask────▶ one more ◀─▶  the parked lives decide on the next epoch themselves
//
// Each parked life votes in the place of the life before, for the epoch that follows the last one. Parked lives and members have
// the same rule of quorums. A chair first finishes what one of them, or a life before, may have decided. Here
// chairs compete, so this is Paxos as it is printed: a voter promises to take no lower ballot. A try is a question to
// each life that can be reached, and its answer. The network may lose both: the chair asks again.

// Past is what a life knew when it let go. Only the next life of its process has it.
type Past struct {
	Life     uint64 // it votes in the place of this one; 0: it has none
	Epoch    Epoch
	Taken    Ballot // it has accepted these seats as the next epoch
	Accepted []Seat
	Gone     []State // members that had ended or left, and had not lost it
}

// Past is what this life leaves to the next one of its process. It must not step any more.
func (m *Member) Past() Past {
	p := Past{Life: m.life, Epoch: m.epoch, Taken: m.taken, Accepted: m.seats, Gone: m.knows()}
	for i := range p.Gone {
		if !m.gone(i) {
			p.Gone[i] = Absent
		}
	}
	return p
}

// turn says what a parked life does: it follows, or it asks for votes, or it has offered.
type turn uint8

const (
	follows turn = iota
	asks
	offers
)

// Parked is the part of a new life that is in no epoch yet. One goroutine at a time uses it.
type Parked struct {
	me       int
	self     Seat // the new life
	past     Past
	promised Ballot // it takes no lower one; the latest that it knows of
	before   Ballot // the value of promised at the last call of Tries
	hearsay  bool   // a member has told it of the last epoch, or it was told by one that had that from a member

	turn    turn
	ballot  Ballot
	answers []bool
	best    Ballot  // the latest ballot that one of them has accepted
	offer   []Seat  // the seats of best, or those that it offers
	lives   []Seat  // by node: the new lives that vote
	gone    []State // members that have ended or left, by what one of them knows
}

// NewParked makes the part of a new life of node me, in a run of so many nodes. A process that has just started has no past.
func NewParked(me, nodes int, self Seat, past Past) *Parked {
	if past.Epoch.Seats == nil {
		past = Past{Epoch: Epoch{Seats: make([]Seat, nodes)}, Gone: make([]State, nodes)}
	}
	return &Parked{me: me, self: self, past: past}
}

// Epoch is the last one that this life knows of.
func (p *Parked) Epoch() Epoch { return p.past.Epoch }

// In reports whether that epoch has this life. Out reports whether this life was in an epoch and is out again: it stays out.
func (p *Parked) In() bool  { return p.seat().Life == p.self.Life && p.seat().State == In }
func (p *Parked) Out() bool { return p.seat().Life == p.self.Life && p.seat().State != In }

func (p *Parked) seat() Seat { return p.past.Epoch.Seats[p.me] }

// votes reports whether the life before is a member of the last epoch.
func (p *Parked) votes() bool {
	return p.seat().Life == p.past.Life && p.seat().State == In
}

// next is the number of the epoch that this life votes on.
func (p *Parked) next() uint64 { return p.past.Epoch.Number + 1 }

// adopt goes on to an epoch that is decided. Nothing was promised for the next one. One that has this life counts
// in any case: a later one may be of members that have ended since, and that had lost those that let it in.
func (p *Parked) adopt(e Epoch, hearsay bool) {
	has := e.Seats[p.me].Life == p.self.Life && e.Seats[p.me].State == In && p.seat().Life != p.self.Life
	if e.Number <= p.past.Epoch.Number && !has {
		return
	}
	gone := make([]State, len(e.Seats))
	for i, s := range e.Seats {
		if s.Life == p.past.Epoch.Seats[i].Life {
			gone[i] = p.past.Gone[i]
		}
	}
	p.past = Past{Life: p.past.Life, Epoch: e, Gone: gone}
	p.promised, p.before, p.turn, p.hearsay = Ballot{}, Ballot{}, follows, hearsay
}

// last is the epoch that it tells others, and the life that vouches for it. A member that has told it may have ended, and the
// epoch with it.
func (p *Parked) last() (Epoch, Seat) {
	switch {
	case !p.hearsay:
		return p.past.Epoch, p.self
	case p.votes():
		return p.past.Epoch, Seat{}
	}
	return Epoch{Seats: make([]Seat, len(p.past.Gone))}, Seat{}
}

// Says is what it says to each life that it can reach.
func (p *Parked) Says() Message {
	last, self := p.last()
	out := Message{Kind: Join, Number: last.Number + 1, Seats: last.Seats, Self: self}
	switch p.turn {
	case asks:
		out.Kind, out.Ballot, out.Gone = Ask, p.ballot, p.past.Gone
	case offers:
		out.Kind, out.Ballot, out.Seats = Offer, p.ballot, p.offer
	}
	return out
}

// Answers is what it answers to a node that is outside. An error says that no correct node asks this.
func (p *Parked) Answers(from int, in Message) (Message, error) {
	switch {
	case in.Kind != Join && in.Kind != Ask && in.Kind != Offer || in.Number == 0:
		return Message{}, fmt.Errorf("%w: node %d is outside, and says kind %d of epoch %d", ErrMessage, from, in.Kind, in.Number)
	case in.Kind != Join && in.Ballot.Chair != from:
		return Message{}, fmt.Errorf("%w: node %d asks for chair %d", ErrMessage, from, in.Ballot.Chair)
	}
	return p.answer(in), nil
}

func (p *Parked) answer(in Message) Message {
	if in.Kind != Offer {
		p.adopt(Epoch{in.Number - 1, in.Seats}, in.Self.Life == 0)
	}
	if in.Number != p.next() || !p.votes() {
		last, self := p.last()
		return Message{Kind: Enter, Number: last.Number, Seats: last.Seats, Self: self}
	}
	if in.Kind == Join || p.past.Epoch.later(p.promised, in.Ballot) {
		return Message{Kind: Answer, Number: in.Number, Ballot: p.promised} // which is not the one that asks
	}
	p.promised, p.turn = in.Ballot, follows
	if in.Kind == Offer {
		p.past.Taken, p.past.Accepted = in.Ballot, in.Seats
		return Message{Kind: Accept, Number: in.Number, Ballot: in.Ballot}
	}
	return p.vote()
}

// vote answers the ballot that it has promised to follow.
func (p *Parked) vote() Message {
	return Message{
		Kind: Answer, Number: p.next(), Ballot: p.promised,
		Taken: p.past.Taken, Seats: p.past.Accepted, Gone: p.past.Gone, Self: p.self,
	}
}

// Hears takes an answer.
func (p *Parked) Hears(from int, in Message) {
	if in.Kind == Enter {
		p.adopt(Epoch{in.Number, in.Seats}, in.Self.Life == 0)
		return
	}
	if in.Number != p.next() {
		return
	}
	if p.past.Epoch.later(in.Ballot, p.promised) { // another chair is ahead
		p.promised, p.turn = in.Ballot, follows
	}
	if in.Ballot != p.ballot {
		return
	}
	switch {
	case p.turn == asks && in.Kind == Answer && in.Self.Life != 0:
		p.counts(from, in)
	case p.turn == offers && in.Kind == Accept:
		p.answers[from] = true
	}
}

// counts takes a vote for the ballot of this chair.
func (p *Parked) counts(from int, in Message) {
	p.answers[from], p.lives[from] = true, in.Self
	for i, s := range in.Gone {
		if s != Absent {
			p.gone[i] = s
		}
	}
	if p.past.Epoch.later(in.Taken, p.best) {
		p.best, p.offer = in.Taken, in.Seats
	}
}

// Tries has it ask for votes, unless it follows a chair that has come since the last call. Call it after a while, which is not
// the same for each life.
func (p *Parked) Tries() {
	if p.turn != follows || !p.votes() {
		return
	}
	if p.before != p.promised {
		p.before = p.promised
		return
	}
	nodes := len(p.past.Gone)
	p.ballot = Ballot{Chair: p.me, Try: 1, Round: p.promised.Round + 1}
	p.promised, p.before, p.turn = p.ballot, p.ballot, asks
	p.answers, p.lives, p.gone = make([]bool, nodes), make([]Seat, nodes), make([]State, nodes)
	p.best, p.offer = Ballot{}, nil
	p.counts(p.me, p.vote())
}

// Turns does what follows once it has asked each life that it can reach.
func (p *Parked) Turns() {
	if p.turn == follows || !p.past.Epoch.quorum(p.answers, func(node int) bool { return p.gone[node] != Absent }) {
		return
	}
	if p.turn == offers {
		p.adopt(Epoch{p.next(), p.offer}, false)
		return
	}
	invariant.Sometimes(p.offer != nil && p.best.Round == 0, "a parked chair finishes what a life before has accepted")
	invariant.Sometimes(p.offer != nil && p.best.Round > 0, "a parked chair finishes what another one has offered")
	if p.offer == nil {
		p.offer = p.formed()
	}
	p.turn = offers
	p.past.Taken, p.past.Accepted = p.ballot, p.offer
	clear(p.answers)
	p.answers[p.me] = true
}

// formed is an epoch of the lives that have answered.
func (p *Parked) formed() []Seat {
	seats := slices.Clone(p.past.Epoch.Seats)
	for i := range seats {
		switch {
		case p.answers[i]:
			seats[i] = Seat{Life: p.lives[i].Life, Address: p.lives[i].Address, State: In, Since: p.next()}
		case p.gone[i] != Absent:
			seats[i].State = p.gone[i]
		case seats[i].State == In:
			seats[i].State = Silent
		}
	}
	return seats
}
