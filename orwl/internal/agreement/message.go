package agreement

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// Kind says what a message is.
type Kind uint8

const (
	// Propose goes to the chair, with Call and Blob.
	Propose Kind = iota + 1
	// Withdraw goes to the chair: the proposal of Call does not count any more.
	Withdraw
	// Leave goes to the chair: the node proposes no more.
	Leave
	// Give goes to the chair, with Number, Round and Blob.
	Give
	// All comes from the chair, with Number, Round and List. In round 0 Call is the proposal
	// of the receiver.
	All
	// Left comes from the chair: no agreement takes place any more, since node Number has
	// left.
	Left
	// Tell goes from a node to every other, with Number and Blob: news of the agreement
	// outside of its rounds.
	Tell
)

// Message is what nodes say to each other.
type Message struct {
	Kind   Kind
	Number uint64 // of the agreement, from 1
	Call   uint64 // counts the proposals of a node, from 1
	Round  uint64
	Blob   []byte
	List   [][]byte // by node; nil for those that were lost before they gave
}

// Letter is a message to a node.
type Letter struct {
	To int
	Message
}

// ErrMessage is a message that no correct node sends.
var ErrMessage = errors.New("agreement: not a message of a correct node")

// header is the message without its blob or list, which travel beside it.
type header struct {
	Kind   Kind   `msgpack:"kind"`
	Number uint64 `msgpack:"number"`
	Call   uint64 `msgpack:"call"`
	Round  uint64 `msgpack:"round"`
}

// Encode returns the message as a header and its bulk.
func (m *Message) Encode() (head, bulk []byte) {
	head, bulk = pack.Encode(&header{m.Kind, m.Number, m.Call, m.Round}), m.Blob
	if m.Kind == All {
		bulk = pack.Encode(m.List)
	}
	return head, bulk
}

// Parse reads a message of a run of so many nodes. It copies what it keeps.
func Parse(head, bulk []byte, nodes int) (m Message, err error) {
	var h header
	if err := pack.Decode(head, &h); err != nil {
		return m, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	if h.Kind == 0 || h.Kind > Tell || h.Round > lastRound {
		return m, fmt.Errorf("%w: kind %d, round %d", ErrMessage, h.Kind, h.Round)
	}
	m = Message{Kind: h.Kind, Number: h.Number, Call: h.Call, Round: h.Round}
	if m.Kind != All {
		m.Blob = append([]byte{}, bulk...)
		return m, nil
	}
	if m.List, err = pack.List[[]byte](bulk, nodes); err != nil {
		return m, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return m, nil
}

// lastRound is the greatest round of an agreement.
const lastRound = 2
