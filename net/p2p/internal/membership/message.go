package membership

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// Kind says what a message is.
type Kind uint8

const (
	// Ask comes from the chair, with Ballot, Gone, and its own epoch: Number-1 and Seats.
	Ask Kind = iota + 1
	// Answer goes to the chair, with Ballot. Taken and Seats are what the node has accepted.
	Answer
	// Offer comes from the chair, with Ballot and Seats.
	Offer
	// Accept goes to the chair, with Ballot.
	Accept
	// Enter says that an epoch is decided, with Number and Seats.
	Enter
	// Join goes to the chair. Seats has the new lives that the sender hears, and that want to come in. A
	// life that is parked sends its epoch: Number-1 and Seats.
	Join
	// Miss goes to the chair. Seats has the lives that the sender has lost by silence.
	Miss
)

// Ballot is one try of a chair to make an epoch.
type Ballot struct {
	Chair int    `msgpack:"chair"`
	Try   uint64 `msgpack:"try"`   // from 1
	Round uint64 `msgpack:"round"` // from 1 among lives that are parked
}

// later reports whether a ballot comes after another one. The chairs are members of the epoch. A
// more senior chair is lost where another one asks. Ballots of parked lives come after all others.
func (e Epoch) later(a, b Ballot) bool {
	if a.Round != b.Round {
		return a.Round > b.Round
	}
	if a.Try == 0 || b.Try == 0 || a.Chair == b.Chair {
		return a.Try > b.Try
	}
	return e.compare(a.Chair, b.Chair) > 0
}

// Message is what nodes say to each other, about epoch Number.
type Message struct {
	Kind   Kind    `msgpack:"kind"`
	Number uint64  `msgpack:"number"`
	Ballot Ballot  `msgpack:"ballot"`
	Taken  Ballot  `msgpack:"taken"`
	Seats  []Seat  `msgpack:"seats"`
	Gone   []State `msgpack:"gone"` // by node: Ended and Left, as far as the sender knows
	Self   Seat    `msgpack:"self"` // the new life of the sender, if that is parked, and knows the epoch for certain
}

// before reports whether a chair has sent the message before another one.
func (m *Message) before(other Message) bool {
	return cmp.Or(cmp.Compare(m.Number, other.Number), cmp.Compare(m.Ballot.Try, other.Ballot.Try)) < 0
}

// Letter is a message to a node.
type Letter struct {
	To int
	Message
}

// ErrMessage is a message that no correct node sends.
var ErrMessage = errors.New("membership: not a message of a correct node")

// Bytes encodes the message.
func (m *Message) Bytes() []byte { return pack.Encode(m) }

// Parse decodes a message of a run of so many nodes.
func Parse(b []byte, nodes int) (m Message, err error) {
	if err := pack.Decode(b, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	if err := m.check(nodes); err != nil {
		return Message{}, err
	}
	return m, nil
}

// check returns what is wrong with a message, or nil.
func (m *Message) check(nodes int) error {
	bad := func(what string) error { return fmt.Errorf("%w: kind %d with %s", ErrMessage, m.Kind, what) }
	if m.Kind < Ask || m.Kind > Miss {
		return bad("no meaning")
	}
	lists := m.Kind != Answer && m.Kind != Accept
	switch {
	case lists && len(m.Seats) != nodes || !lists && len(m.Seats) != 0 && (m.Kind != Answer || len(m.Seats) != nodes):
		return bad(fmt.Sprintf("%d seats", len(m.Seats)))
	case m.Kind == Ask && len(m.Gone) != nodes || m.Kind != Ask && len(m.Gone) != 0 && (m.Kind != Answer || len(m.Gone) != nodes):
		return bad(fmt.Sprintf("news of %d nodes", len(m.Gone)))
	case m.Ballot.Chair < 0 || m.Ballot.Chair >= nodes || m.Taken.Chair < 0 || m.Taken.Chair >= nodes:
		return bad("a chair that is no node")
	case m.Number < 2 && m.Kind < Enter:
		return bad(fmt.Sprintf("epoch %d, which nobody has to agree on", m.Number))
	}
	for _, s := range m.Seats {
		if s.State > Left {
			return bad("an unknown state")
		}
	}
	for _, s := range m.Gone {
		if s != Absent && !s.certain() {
			return bad("a loss that is not certain")
		}
	}
	return nil
}
