package meeting

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// Options say which node this is, and how it reaches the others.
type Options struct {
	Node, Nodes int
	Life        uint64               // of the node: its incarnation
	Network     Network              // of a run of several nodes
	Tell        func(news []byte)    // tells all other nodes
	Left        func(node int) error // why no more phases meet, since the tasks of a node have ended
	// Refusal is what the others are told of a call that was taken back for this reason, if they
	// agree before they hear of it.
	Refusal func(why error) *message.Failure
}

// Network gathers: see [node.Node].
type Network interface {
	Offer(name string, blob []byte, taken func(list [][]byte)) (node.Gathering, error)
	OfferAmong(name string, round uint64, among []uint64, blob []byte, taken func(list [][]byte)) (node.Gathering, error)
	ForgetGathered(over func(name string) bool)
}

// Meeting is where the nodes agree on phases. It may be used by several goroutines.
type Meeting struct {
	o    Options
	turn chan struct{} // holds one of the calls, which decides with the others

	mu     sync.Mutex
	table  *table
	open   node.Gathering // of proposals, while the table has them open
	over   error          // why no more phases meet, or nil
	shut   chan struct{}  // closed when no more phases meet
	apart  error          // why nothing is agreed with this node any more, or nil
	parted chan struct{}  // closed then
}

// The names of gatherings.
const (
	proposals = "phase"
	votes     = "votes"
)

// endsOf is the name under which nodes say that a phase has ended.
func endsOf(number uint64) string { return fmt.Sprintf("phase %d ends", number) }

// numberOf is the number of the phase in a name of endsOf, or 0.
func numberOf(name string) uint64 {
	text, _ := strings.CutSuffix(strings.TrimPrefix(name, "phase "), " ends")
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil || endsOf(number) != name {
		return 0
	}
	return number
}

// New is the meeting of a node that has joined the others.
func New(o Options) *Meeting {
	return &Meeting{
		o: o, turn: make(chan struct{}, 1), table: newTable(o.Node, o.Nodes, o.Life),
		shut: make(chan struct{}), parted: make(chan struct{}),
	}
}

// Turn waits until no other call of this node is before the nodes. The caller calls done in the
// end.
func (m *Meeting) Turn(ctx context.Context) (done func(), err error) {
	done = func() {}
	select {
	case m.turn <- struct{}{}:
		done = func() { <-m.turn }
	case <-ctx.Done():
	case <-m.shut:
	}
	if err = context.Cause(ctx); err == nil {
		err = m.ended()
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// Propose waits until all nodes have called the phase, and returns what they offer: nil for nodes
// that were lost. It takes the call back when ctx ends, or no more phases meet.
func (m *Meeting) Propose(ctx context.Context, c *Call, offer []byte) ([][]byte, error) {
	for {
		if err := m.propose(c, offer); err != nil {
			return nil, err
		}
		why := error(nil)
		select {
		case a := <-c.agreed:
			if !a.again {
				return a.offers, a.err
			}
			continue
		case <-ctx.Done():
			why = context.Cause(ctx)
		case <-m.shut:
		case <-m.parted:
		}
		why = m.why(why)
		if !m.takeBack(c, why) { // all have called it meanwhile
			if a := <-c.agreed; !a.again {
				return a.offers, a.err
			}
		}
		return nil, why
	}
}

func (m *Meeting) propose(c *Call, offer []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over != nil {
		return m.over
	}
	err := m.do(m.table.propose(c, offer))
	if err != nil {
		m.table.pending = nil
	}
	return err
}

// takeBack reports whether it has taken the call back.
func (m *Meeting) takeBack(c *Call, why error) bool {
	refusal := m.o.Refusal(why)
	m.mu.Lock()
	defer m.mu.Unlock()
	w, is := m.table.takeBack(c, refusal)
	_ = m.do(w) // it is short
	return is
}

// do does what a step asks for. It leaves news to tell. The caller holds mu.
func (m *Meeting) do(w work) (err error) {
	if w.say != nil && m.open != nil {
		err = m.open.Change(w.say)
	} else if w.say != nil {
		m.open, err = m.o.Network.Offer(proposals, w.say, m.gathered)
	}
	if v := w.vote; v != nil {
		// It is short.
		_, _ = m.o.Network.OfferAmong(votes, v.number, v.among, v.vote, func([][]byte) {})
	}
	if w.call != nil {
		w.call.agreed <- w.answer
	}
	return err
}

// gathered takes what all nodes have proposed.
func (m *Meeting) gathered(list [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	number := m.open.Round()
	m.open = nil
	_ = m.do(m.table.gathered(number, list)) // it proposes nothing
}

// why is why a call ends: the given reason, if there is one.
func (m *Meeting) why(first error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range []error{m.apart, m.over} {
		if first == nil {
			first = other
		}
	}
	return first
}

// Vote votes on the phase, and waits for the votes of all that have proposed it: nil for nodes
// that were lost.
func (m *Meeting) Vote(c *Call, vote []byte) ([][]byte, error) {
	return m.give(c, votes, c.Number, vote)
}

// Ends says that the tasks of the phase have ended here, and waits until all nodes have said so. It
// forgets the call.
func (m *Meeting) Ends(c *Call, failure []byte) ([][]byte, error) {
	defer m.Forget(c)
	return m.give(c, endsOf(c.Number), 1, failure)
}

// give gathers among the nodes that have proposed the phase. It fails if this node is apart.
func (m *Meeting) give(c *Call, name string, round uint64, blob []byte) ([][]byte, error) {
	if m.o.Nodes == 1 {
		return [][]byte{append([]byte{}, blob...)}, nil // not nil, which is a node that is lost
	}
	done := make(chan [][]byte, 1)
	open, err := m.o.Network.OfferAmong(name, round, c.Among, blob, func(list [][]byte) { done <- list })
	if err != nil {
		return nil, err
	}
	defer open.Drop()
	select {
	case list := <-done:
		return list, nil
	case <-m.parted:
		return nil, m.why(nil)
	}
}

// Forget forgets a call whose phase has ended, or has not joined.
func (m *Meeting) Forget(c *Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.table.forget(c)
}

// Idle reports whether no call is left.
func (m *Meeting) Idle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.table.met) == 0
}
