package agreement

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/invariant"
)

// Member is a node's part in agreements. One goroutine at a time uses it. Refusal is what
// it gives in round 1 of an agreement on a proposal that it has withdrawn.
type Member struct {
	Refusal []byte

	call uint64 // of its last proposal
	open bool
}

// Propose returns the proposal for the chair. The last one is not open any more.
func (m *Member) Propose(blob []byte) Message {
	invariant.Check(!m.open, "proposal %d is open", m.call)
	m.call++
	m.open = true
	return Message{Kind: Propose, Call: m.call, Blob: blob}
}

// Withdraw returns the message that withdraws the open proposal.
func (m *Member) Withdraw() Message {
	invariant.Check(m.open, "proposal %d is not open", m.call)
	m.open = false
	return Message{Kind: Withdraw, Call: m.call}
}

// Open reports whether a proposal is open.
func (m *Member) Open() bool { return m.open }

// Step takes a message of node from. news says that it concerns this node, which acts on it.
// Otherwise the answer is the message for the chair. All of round 0 is news of the open
// proposal, which is agreed upon.
func (m *Member) Step(from int, in Message) (answer Message, news bool, err error) {
	switch {
	case in.Kind == Tell:
		return answer, true, nil
	case in.Kind != All && in.Kind != Left || from != 0:
		return answer, false, fmt.Errorf("%w: node %d sends kind %d to a member", ErrMessage, from, in.Kind)
	case in.Kind == Left:
		m.open = false
		return answer, true, nil
	case in.Round > 0:
		return answer, true, nil
	case !m.open || in.Call != m.call:
		invariant.Sometimes(true, "a withdrawn proposal is refused in round 1")
		return Message{Kind: Give, Number: in.Number, Round: 1, Blob: m.Refusal}, false, nil
	}
	m.open = false
	return answer, true, nil
}
